package moves

import (
	"cmp"
	"fmt"
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

// Rule renames what lies at From or below it: a resource with all its
// instances, one instance, or a module with all that is in it. With an instance
// key at the end of From or To it speaks of that one instance only, so that
// `web` to `web["a"]` gives a resource that had no instances its first one.
type Rule struct{ From, To string }

// Error says why moves cannot be made.
type Error struct {
	From, To string
	Rule     int // the index of the rule, or of the move, that led there
	Why      string
}

func (e *Error) Error() string { return fmt.Sprintf("%s to %s: %s", e.From, e.To, e.Why) }

// Covers reports whether what lies at the first address is the second, or holds
// it: a resource its instances, a module its resources, an instance of a module
// the resources of that instance, any of them what was deposed there.
func Covers(outer, inner string) bool {
	rest, below := strings.CutPrefix(inner, outer)
	return below && (rest == "" || rest[0] == '[' || rest[0] == '.' || strings.HasPrefix(rest, deposedMark))
}

// apply gives the address that a rule makes of another, and whether it speaks
// of it.
func (r Rule) apply(addr string) (string, bool) {
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

// Resolve gives the moves that rules make of recorded resources, whose addresses come
// in sorted; the moves are sorted too. Rules may lead from one to the next: the last says
// where a resource goes. Where several speak of a resource the one with the longest From
// does. A rule that speaks of nothing recorded is passed over in silence. The error is an
// *Error: rules that go round in a circle, or an address that is taken.
func Resolve(recorded []string, rules []Rule) ([]Move, error) {
	order := make([]int, len(rules))
	for i := range rules {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(rules[b].From), len(rules[a].From)) })
	var out []Move
	leads, goes := map[string]int{}, map[string]string{} // from -> its rule, to -> from
	for _, from := range recorded {
		to, last, err := follow(rules, order, from)
		if err != nil {
			return nil, err
		}
		if to == from {
			continue
		}
		if other, twice := goes[to]; twice {
			return nil, &Error{From: from, To: to, Rule: last, Why: other + " is moved there too"}
		}
		out = append(out, Move{From: from, To: to})
		leads[from], goes[to] = last, from
	}
	for _, m := range out {
		_, taken := slices.BinarySearch(recorded, m.To)
		if _, leaves := leads[m.To]; taken && !leaves {
			return nil, &Error{From: m.From, To: m.To, Rule: leads[m.From], Why: m.To + " is recorded already"}
		}
	}
	return out, nil
}

// follow applies rules to an address until none speaks of it any more; last is
// the rule that was applied last.
func follow(rules []Rule, order []int, from string) (to string, last int, err error) {
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
	return "", -1, &Error{From: from, To: to, Rule: last, Why: "the moves go round in a circle"}
}
