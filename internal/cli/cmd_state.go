package cli

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/ui/jsondiff"
	"deployster/internal/ui/render"
	"deployster/state"
)

func stateCommand(e Env) *cli.Command {
	asJSON := func() cli.Flag { return &cli.BoolFlag{Name: "json", Usage: "as JSON, without sensitive values"} }
	doneJSON := func() cli.Flag { return &cli.BoolFlag{Name: "json", Usage: "say what was done as JSON"} }
	dryRun := func() cli.Flag {
		return &cli.BoolFlag{Name: "dry-run", Usage: "say what would be done, and leave the state as it is"}
	}
	return &cli.Command{
		Name:  "state",
		Usage: "look at the state file, and mend it",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "list the resources that it remembers", ArgsUsage: "[ADDRESS ...]", Flags: []cli.Flag{asJSON()},
				Action: func(c *cli.Context) error { return runStateList(c, e) }},
			{Name: "show", Usage: "show what it remembers of one resource", ArgsUsage: "ADDRESS", Flags: []cli.Flag{asJSON()},
				Action: func(c *cli.Context) error { return runStateShow(c, e) }},
			{Name: "rm", Usage: "forget resources, and leave them as they are", ArgsUsage: "ADDRESS ...", Flags: []cli.Flag{dryRun(), doneJSON()},
				Action: func(c *cli.Context) error { return runStateRemove(c, e) }},
			{Name: "mv", Usage: "give resources another address, and leave them as they are", ArgsUsage: "FROM TO", Flags: []cli.Flag{dryRun(), doneJSON()},
				Action: func(c *cli.Context) error { return runStateMove(c, e) }},
			{Name: "pull", Usage: "print the whole state file in clear text, with its secrets",
				Action: func(c *cli.Context) error { return runStatePull(c, e) }},
			{Name: "push", Usage: "make FILE the state; - is stdin", ArgsUsage: "FILE",
				Flags:  []cli.Flag{&cli.BoolFlag{Name: "force", Usage: "also when it is of another lineage, or older"}, dryRun(), doneJSON()},
				Action: func(c *cli.Context) error { return runStatePush(c, e) }},
			{Name: "copies", Usage: "list the earlier state files that are kept", Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as JSON"}},
				Action: func(c *cli.Context) error { return runStateCopies(c, e) }},
			{Name: "reencrypt", Usage: "write the state file and its copies anew, as the encryption block says",
				Action: func(c *cli.Context) error { return runStateReencrypt(c, e) }},
			{Name: "restore", Usage: "make a kept copy the state again", ArgsUsage: "SERIAL", Flags: []cli.Flag{doneJSON()},
				Action: func(c *cli.Context) error { return runStateRestore(c, e) }},
		},
	}
}

// loadedState reads the state for a command that only looks.
func loadedState(c *cli.Context, e Env) (*session, state.Snapshot, error) {
	s, err := newSession(c, e)
	if err != nil {
		return nil, state.Snapshot{}, err
	}
	path := s.statePathAround(c)
	snapshot, err := s.readState(c.Context, path)
	if err != nil {
		return nil, state.Snapshot{}, err
	}
	return s, snapshot, nil
}

func runStateList(c *cli.Context, e Env) error {
	s, snapshot, err := loadedState(c, e)
	if err != nil {
		return err
	}
	names := allRemembered(snapshot)
	if c.NArg() > 0 {
		if names, err = remembered(snapshot, c.Args().Slice()); err != nil {
			return err
		}
	}
	if c.Bool("json") {
		content, err := json.Marshal(append([]string{}, names...))
		if err != nil {
			return err
		}
		s.out.JSON(content)
		return nil
	}
	for _, name := range names {
		mark := render.Unsettled(snapshot.Unsettled[name])
		if mark != "" {
			mark = "  (" + mark + ")"
		}
		s.out.Printf("%s%s\n", diag.Visible(name), mark)
	}
	return nil
}

// recorded checks that the state holds these addresses, and sorts them.
func recorded(snapshot state.Snapshot, addresses []string) ([]string, error) {
	return among(slices.Sorted(maps.Keys(snapshot.Resources)), addresses)
}

// remembered is the same also with those that were acted upon only, and never
// seen VALID.
func remembered(snapshot state.Snapshot, addresses []string) ([]string, error) {
	return among(allRemembered(snapshot), addresses)
}

func allRemembered(snapshot state.Snapshot) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(snapshot.Resources)), maps.Keys(snapshot.Unsettled))
	slices.Sort(names)
	return slices.Compact(names)
}

func among(known, addresses []string) ([]string, error) {
	var out []string
	for _, addr := range addresses {
		if !slices.Contains(known, addr) {
			return nil, diag.Errorf("No such resource in the state", "The state file remembers no %s. %s`deployster state list` lists what there is.", diag.Visible(addr), words.DidYouMean(addr, known, ""))
		}
		out = append(out, addr)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// shownEntry is what `state show -json` prints: an entry, empty when the
// resource was never seen VALID, and what is not settled of it.
type shownEntry struct {
	state.Entry
	Unsettled *state.Unsettled `json:"unsettled,omitempty"`
}

func runStateShow(c *cli.Context, e Env) error {
	if c.NArg() != 1 {
		return diag.Errorf("Wrong command line", "state show takes the address of one resource. `deployster state list` lists them.")
	}
	s, snapshot, err := loadedState(c, e)
	if err != nil {
		return err
	}
	names, err := remembered(snapshot, c.Args().Slice())
	if err != nil {
		return err
	}
	entry, recorded := snapshot.Resources[names[0]]
	u, unsettled := snapshot.Unsettled[names[0]]
	mark := render.Unsettled(u)
	if c.Bool("json") {
		shown := shownEntry{Entry: entry.Masked()}
		if unsettled {
			shown.Unsettled = &u
		}
		return s.out.Document(shown)
	}
	if !recorded {
		s.out.Printf("%s  (never seen VALID)\n  %s\n", diag.Visible(names[0]), mark)
		return nil
	}
	if mark != "" {
		defer s.out.Printf("  %s\n", mark)
	}
	s.out.Printf("%s", render.Entry(names[0], entry, s.out.Options()))
	s.out.Printf("  config = %s\n", jsondiff.TextWithin(jsondiff.Value{JSON: entry.Config, Sensitive: entry.Sensitive.Config}, 2, render.MaxPage, s.out.Hide))
	return nil
}

func runStatePull(c *cli.Context, e Env) error {
	if err := atMost(c, 0); err != nil {
		return err
	}
	s, snapshot, err := loadedState(c, e)
	if err != nil {
		return err
	}
	if snapshot.Lineage == "" {
		return diag.Errorf("No state file", "There is no state file at %s.", s.statePathAround(c))
	}
	content, err := snapshot.Encode()
	if err != nil {
		return err
	}
	s.out.Raw(string(content))
	return nil
}

// readArgument reads a file that the command line names, or stdin.
func readArgument(s *session, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(s.env.Stdin)
	}
	data, err := os.ReadFile(s.path(name))
	if err != nil {
		return nil, diag.Errorf("Cannot read the file", "%s.", err)
	}
	return data, nil
}

func runStateCopies(c *cli.Context, e Env) error {
	if err := atMost(c, 0); err != nil {
		return err
	}
	s, err := newSession(c, e)
	if err != nil {
		return err
	}
	copies, err := state.Copies(state.File(s.statePathAround(c)), s.keys)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		content, err := json.MarshalIndent(append([]state.Copy{}, copies...), "", "  ")
		if err != nil {
			return err
		}
		s.out.JSON(content)
		return nil
	}
	if len(copies) == 0 {
		s.out.Printf("No copies are kept: no state file was written yet.\n")
	}
	for _, c := range copies {
		if c.Err != nil {
			s.out.Printf("serial %d  %s  cannot be read%s\n", c.Serial, c.At.Format(time.RFC3339), sealedAs(c.Encrypted))
			continue
		}
		s.out.Printf("serial %d  %s  %s%s\n", c.Serial, c.At.Format(time.RFC3339), words.Count(c.Resources, "resource"), sealedAs(c.Encrypted))
	}
	return nil
}
