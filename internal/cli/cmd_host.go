package cli

import (
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"deployster/internal/app"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
)

func hostCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:  "host",
		Usage: "the machines on which resources are",
		Subcommands: []*cli.Command{{
			Name:      "check",
			Usage:     "reach hosts, install what is missing there, and say what they are",
			ArgsUsage: "[NAME ...]",
			Description: "Without names it checks all hosts that the manifests declare. It changes nothing else.\n" +
				"Exit codes: 0 all can be used, 1 one cannot.",
			Flags:  slices.Concat(varFlags(), []cli.Flag{inputFlag(), &cli.BoolFlag{Name: "json", Usage: "as JSON"}}),
			Action: e.action(runHostCheck),
		}},
	}
}

// maxClock is how much the clock of a host may differ before it is told.
const maxClock = time.Minute

// shownHosts is what `host check -json` prints.
type shownHosts struct {
	Format int             `json:"format"`
	Hosts  []app.HostCheck `json:"hosts"`
}

func runHostCheck(c *cli.Context, s *session) error {
	in := inputs(c, s)
	in.Paths = nil // the arguments are hosts
	found, err := app.CheckHosts(c.Context, s.Engine, in, c.Args().Slice())
	if err != nil {
		return err
	}
	failed := 0
	for _, h := range found {
		if h.Pin.Unreachable != "" {
			failed++
		}
	}
	if c.Bool("json") {
		err = s.out.Document(shownHosts{Format: 1, Hosts: found})
	} else {
		printHosts(s, found)
	}
	if err == nil && failed > 0 {
		return exitStatus(exitError)
	}
	return err
}

func printHosts(s *session, found []app.HostCheck) {
	for _, h := range found {
		if h.Pin.Unreachable != "" {
			s.out.Printf("%s (%s) cannot be used: %s\n", diag.Visible(h.Name), h.Pin.Address, h.Pin.Unreachable)
			continue
		}
		f := h.Pin.Facts
		s.out.Printf("%s (%s) ok: %s, %s %s, kernel %s, %s, %s, %s\n", diag.Visible(h.Name), h.Pin.Address, diag.Visible(f.Hostname),
			diag.Visible(f.OS), diag.Visible(f.OSVersion), diag.Visible(f.Kernel), diag.Visible(f.Arch), words.Count(f.CPUs, "processor"),
			words.Bytes(f.Memory))
		if h.Slow.Abs() > maxClock {
			s.out.Printf("  its clock differs from this one's by %s\n", h.Slow.Round(time.Second))
		}
	}
}
