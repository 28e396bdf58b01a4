package moves

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Move gives the entry of one address to another. It does not touch the object itself.
type Move struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Why is the reason: "identity", "same config" (a guess) or "other" (another object
	// takes its address); "" = a moved block, a flag, or count.
	Why string `json:"why,omitempty"`
}

// Rule renames what is at From or below it: a resource with all its instances, one
// instance, or a module with everything in it. With an instance key at the end of From or
// To it applies to that one instance only, so that `web` to `web["a"]` makes a resource
// without instances the first instance.
type Rule struct{ From, To string }

// Error reports why moves cannot be made.
type Error struct {
	From, To string
	Rule     int // the index of the rule, or of the move, that caused the error
	Why      string
}

func (e *Error) Error() string { return fmt.Sprintf("%s to %s: %s", e.From, e.To, e.Why) }

// Covers reports whether outer equals inner or contains it: a resource contains its
// instances, a module its resources, an instance of a module the resources of that
// instance, and any of them the entries that were deposed there.
func Covers(outer, inner string) bool {
	rest, below := strings.CutPrefix(inner, outer)
	return below && (rest == "" || rest[0] == '[' || rest[0] == '.' || strings.HasPrefix(rest, deposedMark))
}

// Covering yields what may cover an address, itself first and then each part of it at
// whose end a name ends: Covers is true of each.
func Covering(inner string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := len(inner); i > 0; i-- {
			if outer := inner[:i]; Covers(outer, inner) && !yield(outer) {
				return
			}
		}
	}
}

// apply returns the address that a rule gives to another, and whether the rule applies to
// it.
func (r Rule) apply(addr string) (string, bool) {
	rest, below := strings.CutPrefix(addr, r.From)
	if _, number := RecordedAt(addr); number > 0 {
		below = rest == "" // otherwise it keeps the name under which it was recorded
	}
	switch {
	case !below, rest != "" && rest[0] != '[' && rest[0] != '.':
		return addr, false
	case rest != "" && rest[0] == '[' && (endsInKey(r.From) || endsInKey(r.To)):
		return addr, false // an instance other than the one without a key
	}
	return r.To + rest, true
}

func endsInKey(addr string) bool { return strings.HasSuffix(addr, "]") }

// Resolve returns the moves that rules make for recorded resources, whose addresses are
// given sorted; the moves are sorted too. Rules may lead from one to the next: the last
// decides the new address. If several apply to a resource, the one with the longest From
// wins. Resolve ignores a rule that applies to no recorded address. The error is an
// *Error: rules that form a cycle, or an address that is taken.
func Resolve(recorded []string, rules []Rule) ([]Move, error) {
	byFrom := make(map[string][]int, len(rules))
	for i, r := range rules {
		byFrom[r.From] = append(byFrom[r.From], i)
	}
	var out []Move
	leads, goes := map[string]int{}, map[string]string{} // old address -> index of its last rule, new address -> old address
	for _, from := range recorded {
		to, last, err := follow(rules, byFrom, from)
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

// follow applies rules to an address until none applies any more; last is the rule that
// was applied last.
func follow(rules []Rule, byFrom map[string][]int, from string) (to string, last int, err error) {
	to, last = from, -1
	for range len(rules) + 1 {
		next := -1
		for above := range Covering(to) {
			at := slices.IndexFunc(byFrom[above], func(i int) bool { _, ok := rules[i].apply(to); return ok })
			if at >= 0 {
				next = byFrom[above][at]
				break
			}
		}
		if next < 0 {
			return to, last, nil
		}
		last = next
		to, _ = rules[last].apply(to)
	}
	return "", -1, &Error{From: from, To: to, Rule: last, Why: "the moves form a cycle"}
}
