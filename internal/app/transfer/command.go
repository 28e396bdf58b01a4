package transfer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/app/stateedit"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/state"
	"deployster/state/moves"
	"deployster/state/transfer"
)

// Options declare what is transferred.
type Options struct {
	Addresses []string
	To        string // the other state
	As        string // the address there; "" = the same
	DryRun    bool
	Cancel    bool // take back what is being transferred
}

// Sentence returns what was transferred as a sentence.
func Sentence(r stateedit.StateEdit) string {
	var list []string
	for _, m := range r.Transferred {
		text := diag.Visible(m.From)
		if m.To != m.From {
			text += " as " + diag.Visible(m.To)
		}
		list = append(list, text)
	}
	what := strings.Join(list, ", ")
	switch {
	case r.Canceled && r.DryRun:
		return "Dry run: would take back " + what + "."
	case r.Canceled:
		return "Taken back: " + what + "."
	case r.DryRun:
		return fmt.Sprintf("Dry run: would transfer %s to %s.", what, diag.Visible(r.To))
	}
	return fmt.Sprintf("Transferred %s to %s.", what, diag.Visible(r.To))
}

// Run transfers entries of the state of the workspace to another state, or takes them back.
func Run(ctx context.Context, w *workspace.Workspace, o Options) (stateedit.StateEdit, error) {
	place := w.StatePlaceAround()
	if o.Cancel && o.To == "" {
		var err error
		if o.To, err = whereTo(ctx, w, place, o.Addresses); err != nil {
			return stateedit.StateEdit{}, err
		}
	}
	name := w.Place(o.To).String()
	if name == place.String() {
		return stateedit.StateEdit{}, diag.Errorf("One state", "%s is the state of this project. Nothing was changed.", name)
	}
	l := &Locked{w: w, place: place, others: map[string]*state.Store{}, failed: map[string]error{}}
	if err := l.lock(ctx, w.StateOptions("state transfer"), map[string]bool{name: true}); err != nil {
		return stateedit.StateEdit{}, err
	}
	defer l.Close()
	there, err := l.end(name)
	if err == nil {
		err = mayTravel(w, there)
	}
	if err != nil {
		return stateedit.StateEdit{}, err
	}
	done := stateedit.StateEdit{To: name, DryRun: o.DryRun, Canceled: o.Cancel}
	if o.Cancel {
		done.Transferred, err = l.cancel(there, o)
	} else {
		done.Transferred, err = l.transfer(there, o)
	}
	done.Serial = l.Store.Snapshot().Serial
	return done, err
}

// whereTo returns where entries are being transferred to.
func whereTo(ctx context.Context, w *workspace.Workspace, place state.Place, addresses []string) (string, error) {
	s, err := w.ReadState(ctx, place)
	if err != nil {
		return "", err
	}
	names, err := stateedit.Remembered(s, addresses)
	if err != nil {
		return "", err
	}
	for _, addr := range names {
		if t := s.Resources[addr].Transfer; t != nil && t.To != nil {
			return t.To.State, nil
		}
	}
	return "", diag.Errorf("Nothing to cancel", "None of that is being transferred to another state. Nothing was changed.")
}

// cancel takes back the entries of some addresses that are being transferred, or all.
func (l *Locked) cancel(there transfer.End, o Options) (list []moves.Move, err error) {
	here := l.Store.Snapshot()
	names, err := stateedit.Remembered(here, o.Addresses)
	if err != nil {
		return nil, err
	}
	var addresses []string
	for _, addr := range names {
		if t := here.Resources[addr].Transfer; t != nil && t.To != nil && there.Is(*t.To) {
			addresses, list = append(addresses, addr), append(list, moves.Move{From: addr, To: t.To.Address})
		}
	}
	if len(list) == 0 {
		if !o.DryRun { // a command may have died after it announced a transfer, and before that began
			if err := transfer.Cancel(l.self(), there, nil); err != nil {
				return nil, err
			}
		}
		return nil, diag.Errorf("Nothing to cancel", "None of that is being transferred to %s. Nothing was changed.", there.Name)
	}
	if o.DryRun {
		return list, nil
	}
	return list, transfer.Cancel(l.self(), there, addresses)
}

// transfer finishes what is being transferred, and transfers the rest of what was named.
func (l *Locked) transfer(there transfer.End, o Options) ([]moves.Move, error) {
	list, rest, err := l.entries(there, o)
	if err != nil {
		return nil, err
	}
	if o.DryRun {
		if len(rest) > 0 {
			err = transfer.Check(l.self(), there, rest)
		}
		return list, err
	}
	if err := both(l.self(), there); err != nil {
		return nil, err
	}
	if len(rest) == 0 {
		return list, nil
	}
	if err := transfer.Begin(l.self(), there, rest, l.w.Started); err != nil {
		return nil, err
	}
	return list, transfer.Finish(l.self(), there)
}

// entries returns the entries that are named, and those of them that are not being transferred yet.
func (l *Locked) entries(there transfer.End, o Options) (all, rest []moves.Move, err error) {
	here := l.Store.Snapshot()
	var addresses []string
	for _, addr := range o.Addresses { // what has gone, and has not arrived, is here no more
		if t := here.Went(addr); t != nil && there.Is(*t.To) && here.Resources[addr].Type == "" {
			all = append(all, moves.Move{From: addr, To: t.To.Address})
		} else {
			addresses = append(addresses, addr)
		}
	}
	if len(addresses) == 0 && len(all) > 0 {
		return all, nil, nil
	}
	names, err := stateedit.Remembered(here, addresses)
	if err != nil {
		return nil, nil, err
	}
	to := map[string]string{}
	if o.As != "" {
		if to, err = renamed(here, o.Addresses, o.As); err != nil {
			return nil, nil, err
		}
	}
	for _, addr := range names {
		m := moves.Move{From: addr, To: addr}
		if to[addr] != "" {
			m.To = to[addr]
		}
		if t := here.Resources[addr].Transfer; t != nil && t.To != nil && there.Is(*t.To) {
			m.To = t.To.Address
		} else {
			rest = append(rest, m)
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b moves.Move) int { return strings.Compare(a.From, b.From) })
	return all, rest, nil
}

// renamed returns the addresses that entries have in the other state.
func renamed(here state.Snapshot, addresses []string, as string) (map[string]string, error) {
	if len(addresses) != 1 {
		return nil, diag.Errorf("Conflicting arguments", "-as names one address in the other state, so name one resource, block or module.")
	}
	m, err := config.ParseMove(addresses[0], as)
	if err != nil {
		return nil, err
	}
	alone := state.Snapshot{Resources: map[string]state.Entry{}} // whether the address is free here does not matter
	for addr, e := range here.Resources {
		if moves.Covers(m.From, addr) {
			alone.Resources[addr] = e
		}
	}
	list, err := alone.Resolve([]moves.Rule{{From: m.From, To: m.To}})
	if err != nil {
		return nil, diag.Errorf("Cannot transfer "+m.From, "%s. Nothing was changed.", err)
	}
	to := map[string]string{}
	for _, one := range list {
		to[one.From] = one.To
	}
	if len(to) == 0 {
		return nil, diag.Errorf("Cannot transfer "+m.From+" as "+m.To,
			"%s is the address of one instance, and several are recorded: name one of "+
				"them. Nothing was changed.", m.To)
	}
	return to, nil
}
