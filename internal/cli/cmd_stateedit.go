package cli

import (
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"deployster/internal/base/diag"
	"deployster/internal/base/encryption"
	"deployster/internal/base/words"
	"deployster/state"
)

// stateEdit is what a command has done to the state: all that it says with
// -json.
type stateEdit struct {
	Serial    uint64       `json:"serial"`              // of the state now
	Kept      uint64       `json:"kept,omitempty"`      // serial of the copy that is the state as it was: `state restore` takes it
	DryRun    bool         `json:"dry_run,omitempty"`   // nothing was done
	Forgotten []string     `json:"forgotten,omitempty"` // rm: addresses
	Moved     []state.Move `json:"moved,omitempty"`     // mv
	Pushed    string       `json:"pushed,omitempty"`    // push: the file, - for stdin
	Restored  uint64       `json:"restored,omitempty"`  // restore: the serial of the copy
	Aside     string       `json:"aside,omitempty"`     // restore: where what was there is now
	Resolved  []openAction `json:"resolved,omitempty"`  // resolve: what a person has said
	Open      []openAction `json:"open,omitempty"`      // resolve without an address: what there is to say
}

// sentence says it to a person.
func (d stateEdit) sentence() string {
	switch {
	case len(d.Moved) > 0:
		var moved []string
		for _, m := range d.Moved {
			moved = append(moved, diag.Visible(m.From)+" is "+diag.Visible(m.To))
		}
		return "Moved: " + strings.Join(moved, ", ") + "."
	case len(d.Resolved) > 0 && d.Resolved[0].As == state.Done:
		return "Ended well, as you say: " + actionsOf(d.Resolved) + ". Until its image says VALID the resource counts as unsettled."
	case len(d.Resolved) > 0:
		return "Failed, as you say: " + actionsOf(d.Resolved) + ". The next apply does what its image says is left."
	case d.Pushed != "":
		return "The state is that of " + diag.Visible(d.Pushed) + " now."
	}
	return "Forgotten, and left as they are: " + diag.Visible(strings.Join(d.Forgotten, ", ")) + "."
}

// editState opens the state for a change by hand, makes it, and says what was
// changed.
func editState(c *cli.Context, e Env, change func(s *session, now state.Snapshot) (state.Snapshot, stateEdit, error)) error {
	s, err := newSession(c, e)
	if err != nil {
		return err
	}
	path := s.statePathAround(c)
	store, err := state.Open(c.Context, state.File(path), s.stateOptions(c, strings.TrimPrefix(c.Command.HelpName, "deployster ")))
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }() // the lock goes with the process anyway
	s.tell(store.Recovery())
	next, done, err := change(s, store.Snapshot())
	if err != nil {
		return err
	}
	done.DryRun, done.Serial = c.Bool("dry-run"), store.Snapshot().Serial
	if !done.DryRun {
		done.Kept = done.Serial
		if err := store.Replace(next); err != nil {
			return err
		}
		done.Serial = store.Snapshot().Serial
	}
	switch {
	case c.Bool("json"):
		return s.out.Document(done)
	case done.DryRun:
		s.out.Printf("This would be done, and was not: %s\n", done.sentence())
	case done.Kept == 0: // there was no state
		s.out.Printf("%s The serial is %d now.\n", done.sentence(), done.Serial)
	default:
		s.out.Printf("%s The serial is %d now. `deployster state restore %d` takes this back.\n", done.sentence(), done.Serial, done.Kept)
	}
	return nil
}

func runStateRemove(c *cli.Context, e Env) error {
	if c.NArg() == 0 {
		return diag.Errorf("Wrong command line", "state rm takes the addresses of the resources to forget. `deployster state list` lists them.")
	}
	return editState(c, e, func(_ *session, now state.Snapshot) (state.Snapshot, stateEdit, error) {
		names, err := remembered(now, c.Args().Slice())
		if err != nil {
			return now, stateEdit{}, err
		}
		for _, name := range names {
			if open := openActions(now, "", name); len(open) > 0 {
				return now, stateEdit{}, diag.Errorf("Nobody knows how an action ended",
					"Of %s it is not known how it ended: it may still run. Nothing was changed. `deployster apply` finds out, or `deployster resolve -as=done '%s'` (or failed) says it; then forget it.", actionsOf(open), diag.Visible(name))
			}
			delete(now.Resources, name)
			delete(now.Unsettled, name)
		}
		return now, stateEdit{Forgotten: names}, nil
	})
}

func runStateMove(c *cli.Context, e Env) error {
	if c.NArg() != 2 {
		return diag.Errorf("Wrong command line", "state mv takes two addresses, the old and the new one, of a resource, an instance or a module. `deployster state list` lists what there is.")
	}
	from, to := c.Args().Get(0), c.Args().Get(1)
	return editState(c, e, func(_ *session, now state.Snapshot) (state.Snapshot, stateEdit, error) {
		moves, err := now.Resolve([]state.MoveRule{{From: from, To: to}})
		if err == nil && len(moves) == 0 {
			_, err = recorded(now, []string{from})
		}
		if err != nil {
			return now, stateEdit{}, err
		}
		next, err := now.Moved(moves)
		if err != nil {
			return now, stateEdit{}, diag.Errorf("Cannot move", "%s. Nothing was changed.", diag.Visible(err.Error()))
		}
		return next, stateEdit{Moved: moves}, nil
	})
}

func runStatePush(c *cli.Context, e Env) error {
	if c.NArg() != 1 {
		return diag.Errorf("Wrong command line", "state push takes one state file, or - for stdin.")
	}
	name := c.Args().First()
	return editState(c, e, func(s *session, now state.Snapshot) (state.Snapshot, stateEdit, error) {
		data, err := readArgument(s, name)
		if err != nil {
			return now, stateEdit{}, err
		}
		if data, err = s.keys.Open(encryption.State, name, data); err != nil {
			return now, stateEdit{}, err
		}
		next, err := state.Parse(name, data)
		if err != nil {
			return now, stateEdit{}, err
		}
		if now.Lineage != "" && !c.Bool("force") {
			if next.Lineage != now.Lineage {
				return now, stateEdit{}, diag.Errorf("A state of another lineage", "%s has the lineage %s, and the state has %s: it was made for other resources. Nothing was changed. -force puts it there all the same.", name, next.Lineage, now.Lineage)
			}
			if next.Serial < now.Serial {
				return now, stateEdit{}, diag.Errorf("An older state", "%s has the serial %d, and the state has %d. Nothing was changed. -force puts it there all the same.", name, next.Serial, now.Serial)
			}
		}
		return next, stateEdit{Pushed: name}, nil
	})
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
	got, err := state.Restore(c.Context, state.File(s.statePathAround(c)), serial, s.stateOptions(c, "state restore"))
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return s.out.Document(stateEdit{Serial: got.Snapshot.Serial, Restored: serial, Aside: got.Aside})
	}
	s.out.Printf("The state is the copy with the serial %d again (%s), under the serial %d.\n", serial, words.Count(len(got.Snapshot.Resources), "resource"), got.Snapshot.Serial)
	if got.Aside != "" {
		s.out.Printf("What was there is now %s.\n", got.Aside)
	}
	if got.Journal {
		s.out.Printf("An interrupted apply had begun from it. The next apply adds what that recorded.\n")
	}
	return nil
}
