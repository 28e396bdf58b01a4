package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"deployster/internal/app"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/cli/flagvalues"
	"deployster/internal/cli/sharedstate"
	"deployster/internal/ui/jsondiff"
	"deployster/internal/ui/render"
	"deployster/state"
	"deployster/state/moves"
)

func stateCommand(e Env) *cli.Command {
	asJSON := func() cli.Flag { return &cli.BoolFlag{Name: "json", Usage: "as JSON, without sensitive values"} }
	doneJSON := func() cli.Flag { return &cli.BoolFlag{Name: "json", Usage: "print the result as JSON"} }
	dryRun := func() cli.Flag {
		return &cli.BoolFlag{Name: "dry-run", Usage: "show what would be done, and change nothing"}
	}
	return &cli.Command{
		Name:  "state",
		Usage: "inspect, edit and move the state",
		Subcommands: slices.Insert([]*cli.Command{
			{Name: "list", Usage: "list the resources in the state", ArgsUsage: "[ADDRESS ...]", Flags: []cli.Flag{asJSON()},
				Action: e.action(runStateList)},
			{Name: "show", Usage: "show a resource, a block or a module of the state",
				ArgsUsage: "ADDRESS", Flags: []cli.Flag{asJSON()},
				Action: e.action(runStateShow)},
			{Name: "rm", Usage: "remove resources from the state, without destroying them", ArgsUsage: "ADDRESS ...",
				Flags:  []cli.Flag{dryRun(), doneJSON()},
				Action: e.action(runStateRemove)},
			{Name: "mv", Usage: "move resources to another address in the state", ArgsUsage: "FROM TO",
				Flags:  []cli.Flag{dryRun(), doneJSON()},
				Action: e.action(runStateMove)},
			{Name: "pull", Usage: "print the whole state in clear text, with its secrets",
				Action: e.action(runStatePull)},
			{Name: "push", Usage: "replace the state with FILE; - is stdin", ArgsUsage: "FILE",
				Flags:  []cli.Flag{&cli.BoolFlag{Name: "force", Usage: "also if FILE has another lineage, or is older"}, dryRun(), doneJSON()},
				Action: e.action(runStatePush)},
			{Name: "copies", Usage: "list the backups of the state", Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as JSON"},
				&cli.Uint64Flag{Name: "prune-before", Usage: "first remove the backups before `SERIAL`"}},
				Action: e.action(runStateCopies)},
			{Name: "reencrypt", Usage: "encrypt or decrypt the state and its backups, as the encryption block says",
				Action: e.action(runStateReencrypt)},
			{Name: "restore", Usage: "replace the state with one of its backups", ArgsUsage: "SERIAL", Flags: []cli.Flag{doneJSON()},
				Action: e.action(runStateRestore)},
		}, 4, sharedstate.Commands(func(run sharedstate.Run) cli.ActionFunc {
			return e.action(func(c *cli.Context, s *session) error {
				return run(c, sharedstate.Session{Engine: s.engine, Out: s.out, Confirm: s.ui.Confirm})
			})
		})...),
	}
}

func runStateList(c *cli.Context, s *session) error {
	snapshot, err := s.recorded(c.Context)
	if err != nil {
		return err
	}
	names, err := workspace.Remembered(snapshot, c.Args().Slice())
	if err != nil {
		return err
	}
	if c.Bool("json") {
		content, err := json.Marshal(append([]string{}, names...))
		if err != nil {
			return err
		}
		s.out.JSON(content)
		return nil
	}
	running := app.StillRunning(c.Context, s.engine, snapshot)
	for _, name := range names {
		mark := render.Unsettled(snapshot.Unsettled[name], running)
		if mark != "" {
			mark = "  (" + mark + ")"
		}
		s.out.Printf("%s%s\n", diag.Visible(name), mark)
	}
	return nil
}

func runStateShow(c *cli.Context, s *session) error {
	if c.NArg() != 1 {
		return diag.Errorf("Wrong command line",
			"state show takes one address, of a resource, a block or a module. `deployster state list` lists them.")
	}
	snapshot, err := s.engine.Workspace.ReadStateAround(c.Context)
	if err != nil {
		return err
	}
	workspace.Hide(s.engine.Workspace, snapshot)
	names, err := workspace.Remembered(snapshot, c.Args().Slice())
	if err != nil {
		return err
	}
	if !c.Bool("json") {
		running := app.StillRunning(c.Context, s.engine, snapshot)
		for _, name := range names {
			showRemembered(s, snapshot, name, running)
		}
		return nil
	}
	name := names[0]
	if len(names) > 1 { // one entry, and deposed ones at the same address
		name, _ = moves.RecordedAt(name)
	}
	if slices.ContainsFunc(names[1:], func(other string) bool {
		at, _ := moves.RecordedAt(other)
		return at != name
	}) {
		return diag.Errorf("More than one resource", "state show -json prints one entry, and %s is %d: %s. Name one of them.",
			diag.Visible(c.Args().First()), len(names), words.List(names, 5))
	}
	shown := workspace.EntryDocument{Entry: snapshot.Masked().Nested(name)}
	if u, unsettled := snapshot.Unsettled[name]; unsettled {
		shown.Unsettled = &u
	}
	return s.out.Document(shown)
}

// showRemembered prints what the state has of one resource.
func showRemembered(s *session, snapshot state.Snapshot, name string, running map[string]bool) {
	mark := render.Unsettled(snapshot.Unsettled[name], running)
	entry, recorded := snapshot.Resources[name]
	if !recorded {
		s.out.Printf("%s  (incomplete, never valid)\n  %s\n", diag.Visible(name), mark)
		return
	}
	s.out.Printf("%s", render.Entry(name, entry, s.out.Options()))
	s.out.Printf("  config = %s\n", jsondiff.TextWithin(jsondiff.Value{JSON: entry.Config, Sensitive: entry.Sensitive.Config}, 2,
		render.MaxPage, s.out.Hide))
	if mark != "" {
		s.out.Printf("  %s\n", mark)
	}
}

func runStatePull(c *cli.Context, s *session) error {
	if err := flagvalues.AtMost(c, 0); err != nil {
		return err
	}
	place := s.engine.Workspace.StatePlaceAround()
	snapshot, err := s.engine.Workspace.ReadState(c.Context, place)
	if err != nil {
		return err
	}
	if snapshot.Lineage == "" {
		return noState(place)
	}
	content, err := snapshot.Encode()
	if err != nil {
		return err
	}
	s.out.Raw(string(content))
	return nil
}

func runStateCopies(c *cli.Context, s *session) error {
	if err := flagvalues.AtMost(c, 0); err != nil {
		return err
	}
	if before := c.Uint64("prune-before"); c.IsSet("prune-before") {
		removed, err := workspace.PruneCopies(c.Context, s.engine.Workspace, before)
		if err != nil {
			return err
		}
		s.ui.Err.Printf("Removed the copies of the state before the serial %d: %d.\n", before, removed)
	}
	copies, err := s.engine.Workspace.Copies()
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return s.out.Document(append([]state.Copy{}, copies...))
	}
	if len(copies) == 0 {
		s.out.Printf("No copies are kept: no state file was written yet.\n")
	}
	var rows [][]string
	for _, c := range copies {
		text := "cannot be read"
		if c.Err == nil {
			text = words.Count(c.Resources, "resource")
		}
		if c.Encrypted {
			text += "  encrypted"
		}
		rows = append(rows, []string{fmt.Sprintf("serial %d", c.Serial), c.At.Format(time.RFC3339), text})
	}
	s.out.Table("", rows)
	return nil
}

func runStateReencrypt(c *cli.Context, s *session) error {
	if err := flagvalues.AtMost(c, 0); err != nil {
		return err
	}
	written, err := s.engine.Workspace.Reencrypt(c.Context)
	if err != nil {
		return err
	}
	form := "in clear text"
	if s.engine.Workspace.Keys.Encrypts() {
		form = "encrypted"
	}
	s.out.Printf("Written %s: the state file, and its copies (%d).\n", form, written-1)
	return nil
}
