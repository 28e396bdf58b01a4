package stateedit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"deployster/config"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/encryption"
	"deployster/internal/base/words"
	"deployster/state"
	"deployster/state/actions"
	"deployster/state/moves"
)

// StateEdit is what a command has changed in the state: what it prints with -json.
type StateEdit struct {
	Serial    uint64       `json:"serial"`              // of the state now
	Kept      uint64       `json:"kept,omitempty"`      // serial of the copy of the state before the change, for `state restore`
	DryRun    bool         `json:"dry_run,omitempty"`   // nothing was changed
	Forgotten []string     `json:"forgotten,omitempty"` // rm: addresses
	Moved     []moves.Move `json:"moved,omitempty"`     // mv
	Pushed    string       `json:"pushed,omitempty"`    // push: the file, - for stdin
	Restored  uint64       `json:"restored,omitempty"`  // restore: the serial of the copy
	Aside     string       `json:"aside,omitempty"`     // restore: the file that the replaced state was moved to
	Resolved  []OpenAction `json:"resolved,omitempty"`  // resolve: the actions that were resolved
	// Transferred are the addresses here, and in the other state: transfer. To is that state. Canceled: they were taken back.
	Transferred []moves.Move `json:"transferred,omitempty"`
	To          string       `json:"to,omitempty"`
	Canceled    bool         `json:"canceled,omitempty"`
	Open        []OpenAction `json:"open,omitempty"` // resolve without an address: the actions whose outcome is unknown
}

// Sentence returns the change as a sentence.
func (d StateEdit) Sentence() string {
	did := func(done, would, what string) string {
		if d.DryRun {
			return "Dry run: would " + would + what + "."
		}
		return done + what + "."
	}
	switch {
	case len(d.Moved) > 0:
		var moved []string
		for _, m := range d.Moved {
			moved = append(moved, diag.Visible(m.From)+" to "+diag.Visible(m.To))
		}
		return did("Moved ", "move ", strings.Join(moved, ", "))
	case len(d.Resolved) > 0 && d.Resolved[0].As == actions.Done:
		return did("Recorded as done: ", "record as done: ", ActionsOf(d.Resolved))
	case len(d.Resolved) > 0:
		return did("Recorded as failed: ", "record as failed: ", ActionsOf(d.Resolved)) + " The next apply does what remains."
	case d.Pushed != "":
		return did("Replaced the state with ", "replace the state with ", diag.Visible(d.Pushed))
	}
	return did("Forgot ", "forget ", diag.Visible(strings.Join(d.Forgotten, ", ")))
}

// OpenAction is an action whose outcome is unknown, or was.
type OpenAction struct {
	Address string          `json:"address"`
	Action  string          `json:"action"`
	Started time.Time       `json:"started"`
	By      actions.By      `json:"by,omitzero"`       // the process that started it
	As      actions.Verdict `json:"as,omitempty"`      // the outcome that a person gave; absent = none yet
	Key     string          `json:"idempotency_key"`   // the key that its image was given
	Running bool            `json:"running,omitempty"` // it still runs, so apply will record its outcome
}

// OpenActions returns the actions with an unknown outcome, by address and start.
func OpenActions(s state.Snapshot, as actions.Verdict, addresses ...string) (list []OpenAction) {
	for _, addr := range addresses {
		u := s.Unsettled[addr]
		for _, a := range u.Unexplained() {
			list = append(list, OpenAction{Address: addr, Action: a.Action, Started: a.Started, By: u.By, As: as, Key: a.Key})
		}
	}
	return list
}

// ActionsOf names the actions of a list, for a sentence.
func ActionsOf(list []OpenAction) string {
	var names []string
	for _, o := range list {
		names = append(names, diag.Visible(o.Address+"/"+o.Action))
	}
	return strings.Join(names, ", ")
}

// Editor changes the state on behalf of a person.
type Editor struct {
	w      *workspace.Workspace
	dryRun bool
}

// NewEditor returns an Editor. With dryRun it only returns what would be changed.
func NewEditor(w *workspace.Workspace, dryRun bool) Editor { return Editor{w, dryRun} }

// Edit opens the state, makes a change, and returns what was changed.
func (e Editor) Edit(ctx context.Context, command string,
	change func(now state.Snapshot) (state.Snapshot, StateEdit, error)) (StateEdit, error) {
	return e.edit(ctx, e.w.StateOptions(command), change)
}

func (e Editor) edit(ctx context.Context, o state.Options,
	change func(now state.Snapshot) (state.Snapshot, StateEdit, error)) (StateEdit, error) {
	store, err := workspace.OpenStateWith(ctx, e.w, e.w.StatePlaceAround(), o)
	if err != nil {
		return StateEdit{}, err
	}
	defer func() { _ = store.Close() }() // the lock goes with the process anyway
	next, done, err := change(store.Snapshot())
	if err != nil {
		return StateEdit{}, err
	}
	done.DryRun, done.Serial = e.dryRun, store.Snapshot().Serial
	if !e.dryRun {
		done.Kept = done.Serial
		if err := store.Replace(next); err != nil {
			return StateEdit{}, err
		}
		done.Serial = store.Snapshot().Serial
	}
	return done, nil
}

// Forget removes resources from the state, and leaves the real objects unchanged.
func (e Editor) Forget(ctx context.Context, addresses []string) (StateEdit, error) {
	return e.Edit(ctx, "state rm", func(now state.Snapshot) (state.Snapshot, StateEdit, error) {
		rest, gone := withoutGone(&now, addresses)
		rest, read := e.withoutRead(&now, rest)
		gone = append(gone, read...)
		if len(rest) == 0 && len(gone) > 0 {
			return now, StateEdit{Forgotten: gone}, nil
		}
		names, err := Remembered(now, rest)
		if err == nil {
			err = onItsWay(now, names)
		}
		if err != nil {
			return now, StateEdit{}, err
		}
		now.Resources, now.Unsettled = maps.Clone(now.Resources), maps.Clone(now.Unsettled)
		for _, name := range names {
			if open := OpenActions(now, "", append(now.OpenOperations(name), name)...); len(open) > 0 {
				return now, StateEdit{}, diag.Errorf("The outcome of an action is unknown",
					"The outcome of %s is unknown: it may still run. Nothing was changed. `deployster apply` finds its outcome, or "+
						"`deployster resolve -as=done '%s'` "+
						"(or failed) records it; then forget it.", ActionsOf(open), diag.Visible(open[0].Address))
			}
			delete(now.Resources, name)
			delete(now.Unsettled, name)
		}
		return now, StateEdit{Forgotten: append(names, gone...)}, nil
	})
}

// withoutGone forgets that the entries of some addresses have gone to other states, and returns the rest of the addresses.
func withoutGone(now *state.Snapshot, addresses []string) (rest, gone []string) {
	for _, addr := range addresses {
		if _, recorded := now.Resources[addr]; recorded || now.Went(addr) == nil {
			rest = append(rest, addr)
			continue
		}
		gone = append(gone, addr)
		now.Transferred = slices.DeleteFunc(slices.Clone(now.Transferred), func(t state.Transferred) bool { return t.Address == addr })
	}
	return rest, gone
}

// withoutRead forgets which outputs of other states were used, by the names of these states, and returns the rest of the addresses.
func (e Editor) withoutRead(now *state.Snapshot, addresses []string) (rest, forgotten []string) {
	now.Read = maps.Clone(now.Read)
	for _, addr := range addresses {
		name := addr
		if strings.ContainsRune(addr, '/') {
			name = e.w.Place(addr).String()
		}
		if _, read := now.Read[name]; !read {
			rest = append(rest, addr)
			continue
		}
		forgotten = append(forgotten, name)
		delete(now.Read, name)
	}
	return rest, forgotten
}

// onItsWay refuses to edit what is being transferred between two states.
func onItsWay(now state.Snapshot, names []string) error {
	for _, name := range names {
		if t := now.Resources[name].Transfer; t != nil {
			return diag.Errorf("A resource is being transferred",
				"%s is being transferred between this state and %s. Nothing was changed. `deployster apply` "+
					"finishes that, or `deployster state transfer -cancel`.", diag.Visible(name), diag.Visible(t.Other().State))
		}
	}
	return nil
}

// Move gives resources of the state another address: one, all instances of a block, or
// all resources in a module.
func (e Editor) Move(ctx context.Context, from, to string) (StateEdit, error) {
	m, err := config.ParseMove(from, to)
	if err != nil {
		return StateEdit{}, err
	}
	return e.Edit(ctx, "state mv", func(now state.Snapshot) (state.Snapshot, StateEdit, error) {
		list, err := now.Resolve([]moves.Rule{{From: m.From, To: m.To}})
		if err != nil {
			return now, StateEdit{}, cannotMove(m, err)
		}
		if len(list) == 0 {
			return now, StateEdit{}, nothingToMove(now, m)
		}
		for _, one := range list {
			if err := onItsWay(now, []string{one.From}); err != nil {
				return now, StateEdit{}, err
			}
		}
		next, err := now.Moved(list)
		if err != nil {
			return now, StateEdit{}, cannotMove(m, err)
		}
		return next, StateEdit{Moved: list}, nil
	})
}

// cannotMove is the error about a move that is refused.
func cannotMove(m config.Moved, err error) error {
	why := err.Error()
	var refused *moves.Error
	switch {
	case moves.Covers(m.From, m.To):
		why = m.To + " is within " + m.From
	case errors.As(err, &refused):
		why = refused.Why
	}
	return diag.Errorf(fmt.Sprintf("Cannot move %s to %s", m.From, m.To), "This is impossible: %s. Nothing was "+
		"changed.", diag.Visible(why))
}

// nothingToMove is the error about a move whose address the state does not have, or which names several.
func nothingToMove(now state.Snapshot, m config.Moved) error {
	instances, err := among(slices.Sorted(maps.Keys(now.Resources)), []string{m.From})
	if err != nil {
		return err
	}
	return cannotMove(m, fmt.Errorf("%s are recorded, and the new address is that of one instance: name one of them",
		words.List(instances, 5)))
}

// Push replaces the state by the content of a file. With force that may be of another
// lineage, or older, and the present state may be damaged; its open actions are kept.
func (e Editor) Push(ctx context.Context, name string, content func() ([]byte, error), force bool) (StateEdit, error) {
	o := e.w.StateOptions("state push")
	o.Salvage = force
	return e.edit(ctx, o, func(now state.Snapshot) (state.Snapshot, StateEdit, error) {
		data, err := content()
		if err != nil {
			return now, StateEdit{}, err
		}
		if data, err = e.w.Keys.Open(encryption.State, name, data); err != nil {
			return now, StateEdit{}, err
		}
		next, err := state.Parse(name, data)
		if errors.Is(err, state.ErrDamaged) {
			return now, StateEdit{}, diag.Errorf("Not a state file", "%s is not a state and was not pushed. `deployster state pull` "+
				"prints a valid one. The state is unchanged.", name)
		}
		if err != nil {
			return now, StateEdit{}, err
		}
		if now.Lineage != "" && !force {
			if next.Lineage != now.Lineage {
				return now, StateEdit{}, diag.Errorf("A state of another lineage",
					"%s has the lineage %s, and the state has %s: it was made for other resources. Nothing was changed. -force pushes "+
						"it nevertheless.", name, next.Lineage, now.Lineage)
			}
			if next.Serial < now.Serial {
				return now, StateEdit{}, diag.Errorf("An older state",
					"%s has the serial %d, and the state has %d. Nothing was changed. -force pushes it "+
						"nevertheless.", name, next.Serial, now.Serial)
			}
		}
		if force {
			next = next.KeepOpen(now)
		}
		return next, StateEdit{Pushed: name}, nil
	})
}
