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

// Move gives entries their present addresses: those that moved blocks declare, and those
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
	s.stated, s.written, s.identityMoves = s.Prior, s.Moves, nil
	s.blocks = make(map[string]bool, len(written))
	for _, m := range written {
		s.blocks[m.From] = true
	}
	s.removed = map[string]config.Removed{}
	for _, block := range s.Manifest.Removed() {
		if _, twice := s.removed[block.From]; !twice {
			s.removed[block.From] = block
		}
	}
	return nil
}

// Identify adds the moves that follow from the identity of objects to those that the
// manifest states, in place of those that it added before. Both addresses of such a
// move are selected together.
func (s *Subject) Identify(found []moves.Move) diag.Diagnostics {
	prior, err := s.stated.Moved(found)
	if err != nil {
		return diag.From("Cannot move", err)
	}
	s.Prior, s.identityMoves = prior, found
	s.setMoves(chain(s.written, found))
	s.Narrow()
	return nil
}

// Overruled warns of moved blocks that do not hold, because the identities of objects give
// their entries, or their new addresses, to others.
func (s *Subject) Overruled() (diags diag.Diagnostics) {
	leaves, takes := map[string]moves.Move{}, map[string]moves.Move{}
	for _, m := range s.identityMoves {
		leaves[m.From], takes[m.To] = m, m
	}
	for _, m := range s.written {
		left, leaving := leaves[m.To]
		other, taken := takes[m.To]
		_, deposed := moves.RecordedAt(left.To)
		var why string
		switch {
		case !s.blocks[m.From] || !leaving:
			continue
		case deposed == 0:
			why = fmt.Sprintf("it is the object of %s (%s), which gets its state", config.Reference(left.To), because[left.Why])
		case taken:
			why = fmt.Sprintf("that is the object of %s (%s), whose state it "+
				"gets", config.Reference(s.writtenFrom(other.From)), because[other.Why])
		default:
			continue // it is replaced by a new object at its address
		}
		d := diag.Warningf("A moved block does not hold", "It moves the state of %s to %s, but %s. Remove or correct the block. The "+
			"plan shows what it does without it.", config.Reference(m.From), config.Reference(m.To), why)
		d.Address = m.To
		if block := s.movedBlock(m.To); block != nil {
			s.Manifest.Diagnose(d, &block.Range)
		}
		diags = append(diags, d)
	}
	return diags
}

// because reports how it is known which resource an object belongs to.
var because = map[string]string{"identity": "by its identity", "same config": "a guess, by its config"}

// writtenFrom returns the address that an entry has in the state, given its address after the
// moves that the manifest states.
func (s *Subject) writtenFrom(addr string) string {
	for _, m := range s.written {
		if m.To == addr {
			return m.From
		}
	}
	return addr
}

// movedBlock returns the moved block that gave an entry its address, the most specific one.
func (s *Subject) movedBlock(to string) (found *config.Moved) {
	for _, block := range s.Manifest.Moved() {
		if moves.Covers(block.To, to) && (found == nil || len(block.To) > len(found.To)) {
			found = &block
		}
	}
	return found
}

// cannotMove reports which moved block cannot be followed.
func (s *Subject) cannotMove(err error, blocks []config.Moved) *diag.Diagnostic {
	var refused *moves.Error
	if !errors.As(err, &refused) || refused.Rule < 0 || refused.Rule >= len(blocks) {
		return diag.From("Cannot move", err)[0]
	}
	block := blocks[refused.Rule]
	d := &diag.Diagnostic{Severity: diag.Error, Summary: "Cannot move " + refused.From, Address: refused.To,
		Detail: fmt.Sprintf("A moved block moves the state recorded for %s to %s, but %s. Remove the moved block if they are two "+
			"objects; if %s is no longer needed, remove it in an apply of its own first.",
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
