package state

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Move gives the entry of one address to another. The thing itself is not
// touched.
type Move struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Why is what brought it about: "identity", "same config" (a guess) or "other"
	// (another thing takes its address); "" = a block, a flag, or count.
	Why string `json:"why,omitempty"`
}

// MoveRule renames what lies at From or below it: a resource with all its
// instances, one instance, or a module with all that is in it. With an instance
// key at the end of From or To it speaks of that one instance only, so that
// `web` to `web["a"]` gives a resource that had no instances its first one.
type MoveRule struct{ From, To string }

// MoveError says why moves cannot be made.
type MoveError struct {
	From, To string
	Rule     int // the index of the rule, or of the move, that led there
	Why      string
}

func (e *MoveError) Error() string { return fmt.Sprintf("%s to %s: %s", e.From, e.To, e.Why) }

// Covers reports whether what lies at the first address is the second, or holds
// it: a resource its instances, a module its resources, an instance of a module
// the resources of that instance, any of them what was deposed there.
func Covers(outer, inner string) bool {
	rest, below := strings.CutPrefix(inner, outer)
	return below && (rest == "" || rest[0] == '[' || rest[0] == '.' || strings.HasPrefix(rest, deposedMark))
}

// apply gives the address that a rule makes of another, and whether it speaks
// of it.
func (r MoveRule) apply(addr string) (string, bool) {
	rest, below := strings.CutPrefix(addr, r.From)
	if _, number := RecordedAt(addr); number > 0 {
		below = rest == "" // else it keeps the name under which it was recorded
	}
	switch {
	case !below, rest != "" && rest[0] != '[' && rest[0] != '.':
		return addr, false
	case rest != "" && rest[0] == '[' && (endsInKey(r.From) || endsInKey(r.To)):
		return addr, false // another instance than the one without a key
	}
	return r.To + rest, true
}

func endsInKey(addr string) bool { return strings.HasSuffix(addr, "]") }

// Resolve gives the moves that rules make of the resources that are here,
// sorted. Rules may lead from one to the next: the last says where a resource
// goes. Where several speak of a resource the one with the longest From does. A
// rule that speaks of nothing here is passed over in silence. The error is a
// *MoveError: rules that go round in a circle, or an address that is taken.
func (s Snapshot) Resolve(rules []MoveRule) ([]Move, error) {
	if len(rules) == 0 {
		return nil, nil
	}
	order := make([]int, len(rules))
	for i := range rules {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(rules[b].From), len(rules[a].From)) })
	var moves []Move
	leads, goes := map[string]int{}, map[string]string{} // from -> its rule, to -> from
	for _, from := range slices.Sorted(maps.Keys(s.Resources)) {
		to, last, err := follow(rules, order, from)
		if err != nil {
			return nil, err
		}
		if to == from {
			continue
		}
		if other, twice := goes[to]; twice {
			return nil, &MoveError{From: from, To: to, Rule: last, Why: other + " is moved there too"}
		}
		moves = append(moves, Move{From: from, To: to})
		leads[from], goes[to] = last, from
	}
	for _, m := range moves {
		_, taken := s.Resources[m.To]
		if _, leaves := leads[m.To]; taken && !leaves {
			return nil, &MoveError{From: m.From, To: m.To, Rule: leads[m.From], Why: m.To + " is recorded already"}
		}
	}
	return moves, nil
}

// follow applies rules to an address until none speaks of it any more; last is
// the rule that was applied last.
func follow(rules []MoveRule, order []int, from string) (to string, last int, err error) {
	to, last = from, -1
	for range len(rules) + 1 {
		next := slices.IndexFunc(order, func(i int) bool {
			_, ok := rules[i].apply(to)
			return ok
		})
		if next < 0 {
			return to, last, nil
		}
		last = order[next]
		to, _ = rules[last].apply(to)
	}
	return "", -1, &MoveError{From: from, To: to, Rule: last, Why: "the moves go round in a circle"}
}

// Moved gives the snapshot with entries under their new addresses, in the
// dependencies of others too. All moves are made at once, so that two resources
// may change places. The error is a *MoveError: something that is not there, or
// an address that is taken.
func (s Snapshot) Moved(moves []Move) (Snapshot, error) {
	if len(moves) == 0 {
		return s, nil
	}
	out, to := s.clone(), make(map[string]string, len(moves))
	for i, m := range moves {
		_, known := s.Resources[m.From]
		if !known || to[m.From] != "" {
			return s, &MoveError{From: m.From, To: m.To, Rule: i, Why: m.From + " is not recorded"}
		}
		to[m.From] = m.To
		delete(out.Resources, m.From)
	}
	for i, m := range moves {
		if _, taken := out.Resources[m.To]; taken {
			return s, &MoveError{From: m.From, To: m.To, Rule: i, Why: fmt.Sprintf("%s is recorded already", m.To)}
		}
		out.Resources[m.To] = s.Resources[m.From]
		delete(out.Unsettled, m.From)
	}
	for _, m := range moves {
		if u, unsettled := s.Unsettled[m.From]; unsettled {
			out.Unsettled[m.To] = u
		}
	}
	for addr, e := range out.Resources {
		out.Resources[addr] = e.Renamed(to)
	}
	return out, nil
}

// Renamed gives the entry of a resource where others have another address: those that it
// depends on.
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
	for d, serial := range e.Seen { // all at once: two may change places
		seen[cmp.Or(to[d], d)] = serial
	}
	e.Seen = seen
	return e
}
