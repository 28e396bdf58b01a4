package subject

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/state"
	"deployster/state/moves"
)

// Move gives entries their present addresses: those that moved blocks say, and those
// that follow when a resource gets or loses a count. From then on the plan is made
// with the renamed state.
func (s *Subject) Move() diag.Diagnostics {
	blocks := s.Manifest.Moved()
	rules := make([]moves.Rule, len(blocks))
	for i, m := range blocks {
		rules[i] = moves.Rule{From: m.From, To: m.To}
	}
	written, err := s.Recorded.Resolve(rules)
	if err != nil {
		return diag.Diagnostics{s.cannotMove(err, blocks)}
	}
	renamed, err := s.Placed.Moved(written)
	if err != nil {
		return diag.From("Cannot move", err)
	}
	implied := impliedMoves(s.Manifest.Resources(), renamed)
	if s.Prior, err = renamed.Moved(implied); err != nil {
		return diag.From("Cannot move", err)
	}
	s.setMoves(chain(written, implied))
	s.stated, s.written, s.ties = s.Prior, s.Moves, nil
	s.removed = map[string]config.Removed{}
	for _, block := range s.Manifest.Removed() {
		if _, twice := s.removed[block.From]; !twice {
			s.removed[block.From] = block
		}
	}
	return nil
}

// Identify adds the moves that follow from the identity of things to those that the
// manifest states, in place of those that it added before. Both addresses of such a
// move are selected together.
func (s *Subject) Identify(found []moves.Move) diag.Diagnostics {
	prior, err := s.stated.Moved(found)
	if err != nil {
		return diag.From("Cannot move", err)
	}
	s.Prior, s.ties = prior, found
	s.setMoves(chain(s.written, found))
	s.Narrow()
	return nil
}

// cannotMove says which moved block cannot be followed.
func (s *Subject) cannotMove(err error, blocks []config.Moved) *diag.Diagnostic {
	var refused *moves.Error
	if !errors.As(err, &refused) || refused.Rule < 0 || refused.Rule >= len(blocks) {
		return diag.From("Cannot move", err)[0]
	}
	block := blocks[refused.Rule]
	d := &diag.Diagnostic{Severity: diag.Error, Summary: "Cannot move " + refused.From, Address: refused.To,
		Detail: fmt.Sprintf("A moved block says that the state recorded for %s belongs to %s, but %s. Remove the moved block if they are two "+
			"things; if %s is no longer needed, remove it in an apply of its own first.",
			refused.From, refused.To, refused.Why, refused.To)}
	return s.Manifest.Diagnose(d, &block.Range)
}

// impliedMoves returns the moves that need no moved block: a resource that gets a count
// becomes its instance 0, and if it loses the count its instance 0 becomes the resource.
func impliedMoves(declared []*config.Resource, s state.Snapshot) []moves.Move {
	addresses := make(map[string]bool, len(declared))
	for _, r := range declared {
		addresses[r.Address] = true
	}
	var list []moves.Move
	for _, r := range declared {
		other, counted := strings.CutSuffix(r.Address, "[0]")
		if !counted {
			other = r.Address + "[0]"
		}
		_, known := s.Resources[r.Address]
		if _, there := s.Resources[other]; there && !known && !addresses[other] {
			list = append(list, moves.Move{From: other, To: r.Address})
		}
	}
	return list
}

// chain merges two successive lists of moves into one, sorted.
func chain(first, second []moves.Move) []moves.Move {
	list, leads := slices.Clone(first), make(map[string]int, len(first))
	for i, m := range first {
		leads[m.To] = i
	}
	for _, m := range second {
		if at, moved := leads[m.From]; moved {
			list[at].To, list[at].Why = m.To, m.Why
			continue
		}
		list = append(list, m)
	}
	list = slices.DeleteFunc(list, func(m moves.Move) bool { return m.From == m.To })
	slices.SortFunc(list, func(a, b moves.Move) int { return strings.Compare(a.From, b.From) })
	return list
}

// MovedFrom returns the address that a resource has in the state file, and why it has
// another now; "" = it has this one there, or no entry.
func (s *Subject) MovedFrom(addr string) (from, why string) {
	m := s.from[addr]
	return m.From, m.Why
}

func (s *Subject) setMoves(list []moves.Move) {
	s.Moves, s.from = list, make(map[string]moves.Move, len(list))
	for _, m := range list {
		s.from[m.To] = m
	}
}
