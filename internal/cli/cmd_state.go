package cli

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"deployster/internal/delta"
	"deployster/internal/diag"
	"deployster/internal/render"
	"deployster/internal/sealed"
	"deployster/state"
)

func stateCommand(e Env) *cli.Command {
	asJSON := func() cli.Flag { return &cli.BoolFlag{Name: "json", Usage: "as JSON, without sensitive values"} }
	return &cli.Command{
		Name:  "state",
		Usage: "look at the state file, and mend it",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "list the resources that it remembers", ArgsUsage: "[ADDRESS ...]", Flags: []cli.Flag{asJSON()},
				Action: func(c *cli.Context) error { return runStateList(c, e) }},
			{Name: "show", Usage: "show what it remembers of one resource", ArgsUsage: "ADDRESS", Flags: []cli.Flag{asJSON()},
				Action: func(c *cli.Context) error { return runStateShow(c, e) }},
			{Name: "rm", Usage: "forget resources, and leave them as they are", ArgsUsage: "ADDRESS ...",
				Action: func(c *cli.Context) error { return runStateRemove(c, e) }},
			{Name: "mv", Usage: "give resources another address, and leave them as they are", ArgsUsage: "FROM TO",
				Action: func(c *cli.Context) error { return runStateMove(c, e) }},
			{Name: "pull", Usage: "print the whole state file in clear text, with its secrets",
				Action: func(c *cli.Context) error { return runStatePull(c, e) }},
			{Name: "push", Usage: "make FILE the state; - is stdin", ArgsUsage: "FILE",
				Flags:  []cli.Flag{&cli.BoolFlag{Name: "force", Usage: "also when it is of another lineage, or older"}},
				Action: func(c *cli.Context) error { return runStatePush(c, e) }},
			{Name: "copies", Usage: "list the earlier state files that are kept", Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as JSON"}},
				Action: func(c *cli.Context) error { return runStateCopies(c, e) }},
			{Name: "reencrypt", Usage: "write the state file and its copies anew, as the encryption block says",
				Action: func(c *cli.Context) error { return runStateReencrypt(c, e) }},
			{Name: "restore", Usage: "make a kept copy the state again", ArgsUsage: "SERIAL",
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
	snapshot, recovery, err := state.Load(path, s.keys)
	if err != nil {
		return nil, state.Snapshot{}, err
	}
	s.tellUnlocked(c.Context, path, recovery)
	return s, snapshot, nil
}

func runStateList(c *cli.Context, e Env) error {
	s, snapshot, err := loadedState(c, e)
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(snapshot.Resources))
	if c.NArg() > 0 {
		if names, err = recorded(snapshot, c.Args().Slice()); err != nil {
			return err
		}
	}
	if c.Bool("json") {
		content, err := json.Marshal(append([]string{}, names...))
		if err != nil {
			return err
		}
		s.out.json(content)
		return nil
	}
	for _, name := range names {
		s.out.printf("%s\n", diag.Visible(name))
	}
	return nil
}

// recorded checks that the state holds these addresses, and sorts them.
func recorded(snapshot state.Snapshot, addresses []string) ([]string, error) {
	var out []string
	for _, addr := range addresses {
		if _, ok := snapshot.Resources[addr]; !ok {
			known := slices.Sorted(maps.Keys(snapshot.Resources))
			return nil, diag.Errorf("No such resource in the state", "The state file remembers no %s. %s`deployster state list` lists what there is.", diag.Visible(addr), didYouMean(addr, known, ""))
		}
		out = append(out, addr)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func runStateShow(c *cli.Context, e Env) error {
	if c.NArg() != 1 {
		return diag.Errorf("Wrong command line", "state show takes the address of one resource. `deployster state list` lists them.")
	}
	s, snapshot, err := loadedState(c, e)
	if err != nil {
		return err
	}
	names, err := recorded(snapshot, c.Args().Slice())
	if err != nil {
		return err
	}
	entry := snapshot.Resources[names[0]]
	if c.Bool("json") {
		content, err := json.MarshalIndent(entry.Masked(), "", "  ")
		if err != nil {
			return err
		}
		s.out.json(content)
		return nil
	}
	s.out.printf("%s", render.Entry(names[0], entry, s.out.options()))
	s.out.printf("  config = %s\n", delta.TextWithin(delta.Value{JSON: entry.Config, Sensitive: entry.Sensitive.Config}, 2, render.MaxPage, s.out.hide))
	return nil
}

// editState opens the state for a change by hand, makes it, and says what was
// changed.
func editState(c *cli.Context, e Env, change func(s *session, now state.Snapshot) (next state.Snapshot, done string, err error)) error {
	s, err := newSession(c, e)
	if err != nil {
		return err
	}
	path := s.statePathAround(c)
	store, err := state.Open(c.Context, path, s.stateOptions(c, "state "+c.Command.Name))
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }() // the lock goes with the process anyway
	s.tell(store.Recovery())
	next, done, err := change(s, store.Snapshot())
	if err != nil {
		return err
	}
	if err := store.Replace(next); err != nil {
		return err
	}
	s.out.printf("%s The serial is %d now. `deployster state restore %d` takes this back.\n", done, store.Snapshot().Serial, store.Snapshot().Serial-1)
	return nil
}

func runStateRemove(c *cli.Context, e Env) error {
	if c.NArg() == 0 {
		return diag.Errorf("Wrong command line", "state rm takes the addresses of the resources to forget. `deployster state list` lists them.")
	}
	return editState(c, e, func(_ *session, now state.Snapshot) (state.Snapshot, string, error) {
		names, err := recorded(now, c.Args().Slice())
		if err != nil {
			return now, "", err
		}
		for _, name := range names {
			delete(now.Resources, name)
		}
		return now, "Forgotten, and left as they are: " + diag.Visible(strings.Join(names, ", ")) + ".", nil
	})
}

func runStateMove(c *cli.Context, e Env) error {
	if c.NArg() != 2 {
		return diag.Errorf("Wrong command line", "state mv takes two addresses, the old and the new one, of a resource, an instance or a module. `deployster state list` lists what there is.")
	}
	from, to := c.Args().Get(0), c.Args().Get(1)
	return editState(c, e, func(_ *session, now state.Snapshot) (state.Snapshot, string, error) {
		moves, err := now.Resolve([]state.MoveRule{{From: from, To: to}})
		if err == nil && len(moves) == 0 {
			_, err = recorded(now, []string{from})
		}
		if err != nil {
			return now, "", err
		}
		next, err := now.Moved(moves)
		if err != nil {
			return now, "", diag.Errorf("Cannot move", "%s. Nothing was changed.", diag.Visible(err.Error()))
		}
		var done []string
		for _, m := range moves {
			done = append(done, diag.Visible(m.From)+" is "+diag.Visible(m.To))
		}
		return next, "Moved: " + strings.Join(done, ", ") + ".", nil
	})
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
	s.out.raw(string(content))
	return nil
}

func runStatePush(c *cli.Context, e Env) error {
	if c.NArg() != 1 {
		return diag.Errorf("Wrong command line", "state push takes one state file, or - for stdin.")
	}
	name := c.Args().First()
	return editState(c, e, func(s *session, now state.Snapshot) (state.Snapshot, string, error) {
		data, err := readArgument(s, name)
		if err != nil {
			return now, "", err
		}
		if data, err = s.keys.Open(sealed.State, name, data); err != nil {
			return now, "", err
		}
		next, err := state.Parse(name, data)
		if err != nil {
			return now, "", err
		}
		if now.Lineage != "" && !c.Bool("force") {
			if next.Lineage != now.Lineage {
				return now, "", diag.Errorf("A state of another lineage", "%s has the lineage %s, and the state has %s: it was made for other resources. Nothing was changed. -force puts it there all the same.", name, next.Lineage, now.Lineage)
			}
			if next.Serial < now.Serial {
				return now, "", diag.Errorf("An older state", "%s has the serial %d, and the state has %d. Nothing was changed. -force puts it there all the same.", name, next.Serial, now.Serial)
			}
		}
		return next, "The state is that of " + diag.Visible(name) + " now.", nil
	})
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
	copies, err := state.Copies(s.statePathAround(c), s.keys)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		content, err := json.MarshalIndent(append([]state.Copy{}, copies...), "", "  ")
		if err != nil {
			return err
		}
		s.out.json(content)
		return nil
	}
	if len(copies) == 0 {
		s.out.printf("No copies are kept: no state file was written yet.\n")
	}
	for _, c := range copies {
		if c.Err != nil {
			s.out.printf("serial %d  %s  cannot be read%s\n", c.Serial, c.At.Format(time.RFC3339), sealedAs(c.Encrypted))
			continue
		}
		s.out.printf("serial %d  %s  %s%s\n", c.Serial, c.At.Format(time.RFC3339), counted(c.Resources, "resource"), sealedAs(c.Encrypted))
	}
	return nil
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func runStateRestore(c *cli.Context, e Env) error {
	serial, err := strconv.ParseUint(c.Args().First(), 10, 64)
	if c.NArg() != 1 || err != nil {
		return diag.Errorf("Wrong command line", "state restore takes the serial of a kept copy. `deployster state copies` lists them.")
	}
	s, err := newSession(c, e)
	if err != nil {
		return err
	}
	got, err := state.Restore(c.Context, s.statePathAround(c), serial, s.stateOptions(c, "state restore"))
	if err != nil {
		return err
	}
	s.out.printf("The state is the copy with the serial %d again (%s), under the serial %d.\n", serial, counted(len(got.Snapshot.Resources), "resource"), got.Snapshot.Serial)
	if got.Aside != "" {
		s.out.printf("What was there is now %s.\n", got.Aside)
	}
	if got.Journal {
		s.out.printf("An interrupted apply had begun from it. The next apply adds what that recorded.\n")
	}
	return nil
}
