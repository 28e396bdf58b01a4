package transfer

import (
	"context"
	"maps"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/plan/reason"
	"deployster/state"
	"deployster/state/transfer"
)

// Locked is the locked state of a command, with the other states that its transfers need. What could be
// finished of earlier transfers is finished.
type Locked struct {
	Store *state.Store

	w        *workspace.Workspace
	place    state.Place
	manifest *config.Manifest // nil = nothing is given away, and nothing is declared
	others   map[string]*state.Store
	failed   map[string]error // why another state cannot be used, by its name
	coming   []state.Announced
}

// Snapshot returns the state with what was announced to it.
func (l *Locked) Snapshot() state.Snapshot { return transfer.Awaited(l.Store.Snapshot(), l.coming) }

// listen reads what was announced to the state, and withdraws what has arrived.
func (l *Locked) listen() (err error) {
	if err = transfer.Arrived(l.self()); err == nil {
		l.coming, err = l.Store.Announced()
	}
	return err
}

// Open locks the state at a place, and what the transfers need: these are those that an earlier command
// began, and those of removed blocks with to. Another state that cannot be locked or read is not an error.
func Open(ctx context.Context, w *workspace.Workspace, place state.Place, o state.Options, m *config.Manifest) (*Locked, error) {
	l := &Locked{w: w, place: place, manifest: m, others: map[string]*state.Store{}, failed: map[string]error{}}
	want := map[string]bool{}
	for {
		if err := l.lock(ctx, o, want); err != nil {
			return nil, err
		}
		if err := l.listen(); err != nil {
			l.Close()
			return nil, err
		}
		more := l.needs(l.Snapshot())
		maps.DeleteFunc(more, func(name string, _ bool) bool { return want[name] })
		if len(more) == 0 {
			break
		}
		l.Close()
		maps.Copy(want, more)
	}
	l.finish()
	return l, nil
}

// lock opens the states in the order of their names, so that two commands never wait for each other.
func (l *Locked) lock(ctx context.Context, o state.Options, others map[string]bool) error {
	own := l.place.String()
	for _, name := range inOrder(own, others) {
		var err error
		switch {
		case name == own:
			l.Store, err = workspace.OpenStateWith(ctx, l.w, l.place, o)
		case l.failed[name] == nil:
			if l.others[name], err = openOther(ctx, l.w, name, o.Command); err != nil {
				delete(l.others, name)
				l.failed[name], err = err, context.Cause(ctx)
			}
		}
		if err != nil {
			l.Close()
			return err
		}
	}
	return nil
}

// inOrder returns the names of states in the order in which they are locked.
func inOrder(own string, others map[string]bool) []string {
	return slices.Sorted(maps.Keys(with(others, own)))
}

func with(set map[string]bool, name string) map[string]bool {
	set = maps.Clone(set)
	set[name] = true
	return set
}

// openOther locks the state of another project: it is encrypted with the keys that it has.
func openOther(ctx context.Context, w *workspace.Workspace, name, command string) (*state.Store, error) {
	o := w.StateOptions(strings.TrimPrefix(command, "deployster "))
	o.Keys, o.Kept = w.OtherKeys(), nil
	return workspace.OpenStateWith(ctx, w, w.Place(name), o)
}

// needs returns the names of the other states that the transfers of a state need.
func (l *Locked) needs(s state.Snapshot) map[string]bool {
	names := map[string]bool{}
	for _, addr := range s.Travels() {
		names[s.Resources[addr].Transfer.Other().State] = true
	}
	for _, to := range given(l.w, l.manifest, s) {
		names[to] = true
	}
	delete(names, l.place.String())
	return names
}

// given returns what removed blocks give to other states: their names, by the addresses of entries.
func given(w *workspace.Workspace, m *config.Manifest, s state.Snapshot) map[string]string {
	list := map[string]string{}
	if m == nil {
		return list
	}
	blocks := m.Removed()
	for addr, e := range s.Resources {
		if block := removedBlock(blocks, addr); block != nil && block.To != "" && e.Transfer == nil {
			list[addr] = w.Place(block.To).String()
		}
	}
	return list
}

// end returns another state that is locked.
func (l *Locked) end(name string) (transfer.End, error) {
	store := l.others[name]
	if store == nil {
		if err := l.failed[name]; err != nil {
			return transfer.End{}, err
		}
		return transfer.End{}, diag.Errorf("The other state is not locked", "%s.", name)
	}
	return transfer.End{Side: store, Name: name}, nil
}

func (l *Locked) self() transfer.End { return transfer.End{Side: l.Store, Name: l.place.String()} }

// finish finishes what is being transferred, and unlocks the other states that nothing is given to.
func (l *Locked) finish() {
	to := slices.Collect(maps.Values(given(l.w, l.manifest, l.Store.Snapshot())))
	for _, name := range slices.Sorted(maps.Keys(l.others)) {
		there, err := l.end(name)
		if err == nil {
			err = both(l.self(), there)
		}
		if err == nil {
			err = l.listen()
		}
		if err == nil && l.travels(name) {
			err = diag.Errorf("Another state", "%s is another state now (lineage %s)", name, there.Snapshot().Lineage)
		}
		if err != nil { // the marks stay, so what is being transferred is left alone
			l.failed[name] = err
		}
		if err != nil || !slices.Contains(to, name) {
			_ = l.others[name].Close()
			delete(l.others, name)
		}
	}
}

// travels reports whether anything is still being transferred to or from a state.
func (l *Locked) travels(name string) bool {
	s := l.Snapshot()
	return slices.ContainsFunc(s.Travels(), func(addr string) bool { return s.Resources[addr].Transfer.Other().State == name })
}

// both finishes what is being transferred between two states, in both directions.
func both(a, b transfer.End) error {
	if err := transfer.Finish(a, b); err != nil {
		return err
	}
	return transfer.Finish(b, a)
}

// Left returns why entries are unchanged, by address: they are being transferred and the other state cannot be used;
// they are declared, and belong to another state now; or they cannot be given away.
func (l *Locked) Left() map[string]*reason.Reason {
	s := l.Snapshot()
	left := Still(s, l.manifest, func(name string) error { return l.failed[name] })
	for addr, name := range given(l.w, l.manifest, s) {
		there, err := l.end(name)
		if err == nil {
			err = checkOne(l.w, l.self(), there, addr)
		}
		if err != nil {
			left[addr] = reason.New(reason.GoesLater, name, oneLine(err))
		}
	}
	return left
}

// Give transfers entries to another state. It is called before the run that forgets them.
func (l *Locked) Give(to map[string]string) error {
	byName := map[string][]string{}
	for addr, name := range to {
		name = l.w.Place(name).String()
		if _, known := l.Store.Snapshot().Resources[addr]; known { // a killed run of the plan may have given it
			byName[name] = append(byName[name], addr)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		there, err := l.end(name)
		if err != nil {
			return err
		}
		slices.Sort(byName[name])
		if err := transfer.Begin(l.self(), there, same(byName[name]), l.w.Started); err != nil {
			return err
		}
		if err := transfer.Finish(l.self(), there); err != nil {
			return err
		}
	}
	return nil
}

// CloseOthers unlocks the other states.
func (l *Locked) CloseOthers() {
	for name, store := range l.others {
		_ = store.Close()
		delete(l.others, name)
	}
}

// Close unlocks all states. The locks go with the process anyway.
func (l *Locked) Close() {
	l.CloseOthers()
	if l.Store != nil {
		_ = l.Store.Close()
	}
}
