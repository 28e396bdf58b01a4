package content

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"deployster/state/moves"
)

// Resolve returns the moves that the rules make for the resources of the snapshot.
func (s Snapshot) Resolve(rules []moves.Rule) ([]moves.Move, error) {
	if len(rules) == 0 {
		return nil, nil
	}
	return moves.Resolve(slices.Sorted(maps.Keys(s.Resources)), rules)
}

// Moved returns the snapshot with entries under their new addresses, also in the
// dependencies of other entries. All moves are made at once, so that two resources may
// swap addresses. The error is a *moves.Error: a resource that is not recorded, or an
// address that is taken.
func (s Snapshot) Moved(list []moves.Move) (Snapshot, error) {
	if len(list) == 0 {
		return s, nil
	}
	out, to := s.Clone(), make(map[string]string, len(list))
	for i, m := range list {
		_, known := s.Resources[m.From]
		if !known || to[m.From] != "" {
			return s, &moves.Error{From: m.From, To: m.To, Rule: i, Why: m.From + " is not recorded"}
		}
		to[m.From] = m.To
		delete(out.Resources, m.From)
	}
	for i, m := range list {
		if _, taken := out.Resources[m.To]; taken {
			return s, &moves.Error{From: m.From, To: m.To, Rule: i, Why: fmt.Sprintf("%s is recorded already", m.To)}
		}
		out.Resources[m.To] = s.Resources[m.From]
		delete(out.Unsettled, m.From)
	}
	for _, m := range list {
		if u, unsettled := s.Unsettled[m.From]; unsettled {
			out.Unsettled[m.To] = u
		}
	}
	out.movedOperations(to)
	out.Operations = out.Operations.renamed(to)
	out.Renamed = append(slices.Clone(s.Renamed), list...)
	for addr, e := range out.Resources {
		out.Resources[addr] = e.Renamed(to)
	}
	return out, nil
}

// Renamed returns the entry with the new addresses of the resources that it refers to:
// its dependencies, aliases and subscriptions.
func (e Entry) Renamed(to map[string]string) Entry {
	moved := func(d string) bool { return to[d] != "" }
	if !slices.ContainsFunc(e.Dependencies, moved) && !slices.ContainsFunc(slices.Collect(maps.Values(e.Aliases)), moved) {
		return e
	}
	e.Aliases = maps.Clone(e.Aliases)
	for alias, d := range e.Aliases {
		e.Aliases[alias] = cmp.Or(to[d], d)
	}
	e.Dependencies = slices.Clone(e.Dependencies)
	for i, d := range e.Dependencies {
		e.Dependencies[i] = cmp.Or(to[d], d)
	}
	slices.Sort(e.Dependencies)
	seen := make(map[string]uint64, len(e.Seen))
	for d, serial := range e.Seen { // into a new map: two resources may swap addresses
		seen[cmp.Or(to[d], d)] = serial
	}
	e.Seen = seen
	return e
}
