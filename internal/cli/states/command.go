package states

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"deployster/internal/app"
	"deployster/internal/app/resolving"
	"deployster/internal/app/stateedit"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/cli/flagvalues"
	"deployster/internal/ui/jsondiff"
	"deployster/internal/ui/render"
	"deployster/internal/ui/stateview"
	"deployster/internal/ui/terminal"
	"deployster/state"
	"deployster/state/moves"
)

// Session is the session in which a command runs.
type Session struct {
	Engine   *app.Engine
	Out, Err terminal.Printer // Out is for results, Err for everything else
	Stdin    io.Reader
	Confirm  func(ctx context.Context, question string, whole bool) (bool, error)
}

// Run runs a command.
type Run func(*cli.Context, Session) error

// Command returns the command for states. action makes a cli action of a function that
// runs in a session.
func Command(action func(Run) cli.ActionFunc) *cli.Command {
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
				Action: action(list)},
			{Name: "show", Usage: "show a resource, a block or a module of the state",
				ArgsUsage: "ADDRESS", Flags: []cli.Flag{asJSON()},
				Action: action(show)},
			{Name: "rm", Usage: "remove resources from the state, without destroying them", ArgsUsage: "ADDRESS ...",
				Flags:  []cli.Flag{dryRun(), doneJSON()},
				Action: action(remove)},
			{Name: "mv", Usage: "move resources to another address in the state", ArgsUsage: "FROM TO",
				Flags:  []cli.Flag{dryRun(), doneJSON()},
				Action: action(move)},
			{Name: "pull", Usage: "print the whole state in clear text, with its secrets",
				Action: action(pull)},
			{Name: "push", Usage: "replace the state with FILE; - is stdin", ArgsUsage: "FILE",
				Flags: []cli.Flag{&cli.BoolFlag{Name: "force", Usage: "also if FILE has another lineage, or is older"}, dryRun(),
					doneJSON()},
				Action: action(push)},
			{Name: "copies", Usage: "list the backups of the state", Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as JSON"},
				&cli.Uint64Flag{Name: "prune-before", Usage: "first remove the backups before `SERIAL`"}},
				Action: action(copies)},
			{Name: "history", Usage: "list who applied what, the newest first",
				Flags:  []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as JSON"}},
				Action: action(history)},
			{Name: "reencrypt", Usage: "encrypt or decrypt the state and its backups, as the encryption block configures it",
				Action: action(reencrypt)},
			{Name: "restore", Usage: "replace the state with one of its backups", ArgsUsage: "SERIAL", Flags: []cli.Flag{doneJSON()},
				Action: action(restore)},
		}, 4, sharedCommands(action)...),
	}
}

func list(c *cli.Context, s Session) error {
	snapshot, err := Recorded(c.Context, s.Engine.Workspace)
	if err != nil {
		return err
	}
	names, err := stateedit.Remembered(snapshot, c.Args().Slice())
	if err != nil {
		return err
	}
	if c.Bool("json") {
		content, err := json.Marshal(append([]string{}, names...))
		if err != nil {
			return err
		}
		s.Out.JSON(content)
		return nil
	}
	running := resolving.StillRunning(c.Context, s.Engine, snapshot)
	for _, name := range names {
		mark := stateview.Unsettled(snapshot.Unsettled[name], running)
		if mark != "" {
			mark = "  (" + mark + ")"
		}
		s.Out.Printf("%s%s\n", diag.Visible(name), mark)
	}
	return nil
}

func show(c *cli.Context, s Session) error {
	if c.NArg() != 1 {
		return diag.Errorf("Wrong number of arguments",
			"state show takes one address, of a resource, a block or a module. `deployster state list` lists them.")
	}
	snapshot, err := s.Engine.Workspace.ReadState(c.Context, s.Engine.Workspace.StatePlaceAround())
	if err != nil {
		return err
	}
	workspace.Hide(s.Engine.Workspace, snapshot)
	names, err := stateedit.Remembered(snapshot, c.Args().Slice())
	if err != nil {
		return err
	}
	if !c.Bool("json") {
		running := resolving.StillRunning(c.Context, s.Engine, snapshot)
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
	shown := stateedit.EntryDocument{Entry: snapshot.Masked().Nested(name)}
	if u, unsettled := snapshot.Unsettled[name]; unsettled {
		shown.Unsettled = &u
	}
	return s.Out.Document(shown)
}

// showRemembered prints what the state has of one resource.
func showRemembered(s Session, snapshot state.Snapshot, name string, running map[string]bool) {
	mark := stateview.Unsettled(snapshot.Unsettled[name], running)
	entry, recorded := snapshot.Resources[name]
	if !recorded {
		s.Out.Printf("%s  (incomplete, never valid)\n  %s\n", diag.Visible(name), mark)
		return
	}
	s.Out.Printf("%s", stateview.Entry(name, entry, s.Out.Options()))
	s.Out.Printf("  config = %s\n", jsondiff.TextWithin(jsondiff.Value{JSON: entry.Config, Sensitive: entry.Sensitive.Config}, 2,
		render.MaxPage, s.Out.Hide))
	if mark != "" {
		s.Out.Printf("  %s\n", mark)
	}
}

func pull(c *cli.Context, s Session) error {
	if err := flagvalues.AtMost(c, 0); err != nil {
		return err
	}
	place := s.Engine.Workspace.StatePlaceAround()
	snapshot, err := s.Engine.Workspace.ReadState(c.Context, place)
	if err != nil {
		return err
	}
	if snapshot.Lineage == "" {
		return NoState(place)
	}
	content, err := snapshot.Encode()
	if err != nil {
		return err
	}
	s.Out.Raw(string(content))
	return nil
}

func copies(c *cli.Context, s Session) error {
	if err := flagvalues.AtMost(c, 0); err != nil {
		return err
	}
	if before := c.Uint64("prune-before"); c.IsSet("prune-before") {
		removed, err := stateedit.PruneCopies(c.Context, s.Engine.Workspace, before)
		if err != nil {
			return err
		}
		s.Err.Printf("Removed the copies of the state before the serial %d: %d.\n", before, removed)
	}
	copies, err := stateedit.Copies(s.Engine.Workspace)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return s.Out.Document(append([]state.Copy{}, copies...))
	}
	if len(copies) == 0 {
		s.Out.Printf("No copies are kept: no state file was written yet.\n")
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
	s.Out.Table("", rows)
	return nil
}

func reencrypt(c *cli.Context, s Session) error {
	if err := flagvalues.AtMost(c, 0); err != nil {
		return err
	}
	written, err := stateedit.Reencrypt(c.Context, s.Engine.Workspace)
	if err != nil {
		return err
	}
	form := "in clear text"
	if s.Engine.Workspace.Keys.Encrypts() {
		form = "encrypted"
	}
	s.Out.Printf("Written %s: the state file, and its copies (%d).\n", form, written-1)
	return nil
}
