package plan

import (
	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan/match"
	"deployster/plan/order"
	"deployster/plan/reason"
	"deployster/plan/things"
	"deployster/state/moves"
)

// depose returns the move that gives the entry of a replaced thing another key, so that
// the new thing can be created first; false = the thing is not replaced in that order. A
// thing that is not destroyed at all needs no such move.
func (b *builder) depose(p match.Pair, taken map[string]match.Role) (moves.Move, bool) {
	if !p.Replaced || !b.identified.first[p.Address] || p.Why == match.Identity ||
		p.Owner != "" || match.OnlyPaths(p.Differences) && !b.Selection.OtherPath || taken[p.Recorded] == match.ReadOnly {
		return moves.Move{}, false
	}
	key := depose(p.Address, taken)
	b.identified.deposed[p.Address] = key
	b.identified.ends[key] = match.End{Recorded: p.Recorded, Address: p.Address, Deposed: true}
	return moves.Move{From: p.Recorded, To: key, Why: order.CreateFirst}, true
}

// depose takes the first free key for a deposed entry of an address.
func depose(addr string, taken map[string]match.Role) string {
	key := moves.Depose(addr, func(key string) bool { _, is := taken[key]; return is })
	taken[key] = match.Managed
	return key
}

// replaceLater notes that the thing of a resource is removed after the new one is created.
// It reports an error and returns false for a resource that must not be replaced.
func (b *builder) replaceLater(r *config.Resource, step *Step, pair match.Pair, key string) bool {
	why := things.Changed(pair.Differences, step.Sensitive, b.Prior.Resources[key].Sensitive.Config)
	if pair.Why != match.Other || b.Replaces(r.Address) {
		why = b.decided.asked(r.Address)
	}
	if r.PreventDestroy {
		b.Report(r, "", diag.Diagnostics{things.Protected("It has prevent_destroy = true", why)})
		return false
	}
	step.Replaces = key
	later := reason.DestroyedLater
	if b.Prior.Resources[key].OnRemove == "forget" {
		later = reason.ForgottenLater
	}
	step.Notes = append(step.Notes, reason.New(later, key).With(why))
	return true
}

// createFirstEdges returns the edges by which a deposed thing is removed after its successor exists.
func (b assembler) createFirstEdges() (edges []Edge) {
	for key := range b.steps {
		addr, number := moves.RecordedAt(key)
		if number > 0 && b.identified.first[addr] && b.steps[addr] != nil {
			edges = append(edges, Edge{From: addr, To: key, Origin: order.CreateFirst})
		}
	}
	return edges
}
