package hosts

import (
	"time"

	"github.com/urfave/cli/v2"

	"deployster/internal/app"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/ui/terminal"
)

// UnreachableFlag says what becomes of what is on hosts that cannot be reached.
func UnreachableFlag() cli.Flag {
	return &cli.StringFlag{Name: "unreachable", Value: "leave",
		Usage: "`WHAT` to do when a host cannot be reached: leave its resources as they are, or fail",
		Action: func(_ *cli.Context, what string) error {
			if what != "leave" && what != "fail" {
				return diag.Errorf("Wrong command line", "-unreachable is leave or fail, and not %q.", diag.Visible(what))
			}
			return nil
		}}
}

// maxClock is how much the clock of a host may differ before it is told.
const maxClock = time.Minute

// shown is what `host check -json` prints.
type shown struct {
	Format int             `json:"format"`
	Hosts  []app.HostCheck `json:"hosts"`
}

// Print prints what was found of hosts, for people or for programs.
func Print(out terminal.Printer, found []app.HostCheck, json bool) error {
	if json {
		return out.Document(shown{Format: 1, Hosts: found})
	}
	for _, h := range found {
		if h.Pin.Unreachable != "" {
			out.Printf("%s (%s) cannot be used: %s\n", diag.Visible(h.Name), h.Pin.Address, h.Pin.Unreachable)
			continue
		}
		f := h.Pin.Facts
		out.Printf("%s (%s) ok: %s, %s %s, kernel %s, %s, %s, %s\n", diag.Visible(h.Name), h.Pin.Address, diag.Visible(f.Hostname),
			diag.Visible(f.OS), diag.Visible(f.OSVersion), diag.Visible(f.Kernel), diag.Visible(f.Arch), words.Count(f.CPUs, "processor"),
			words.Bytes(f.Memory))
		if h.Slow.Abs() > maxClock {
			out.Printf("  its clock differs from this one's by %s\n", h.Slow.Round(time.Second))
		}
	}
	return nil
}
