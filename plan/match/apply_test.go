package match_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"deployster/internal/testkit/identity"
	"deployster/plan/match"
)

// tool is the rules with as much of plan and apply around them as they need.
type tool struct {
	w     *identity.World
	r     *rand.Rand
	state entries
}

func model(w *identity.World, r *rand.Rand) identity.Tool { return &tool{w: w, r: r, state: entries{}} }

// Fits: whatever is drawn can be declared.
func (*tool) Fits(identity.Manifest) bool { return true }

func (t *tool) Apply(c identity.Command) (identity.Outcome, error) {
	p, err := build(t.w, t.state, c)
	if err != nil {
		return identity.Outcome{}, err
	}
	var out identity.Outcome
	t.state, out.Status, out.Told = apply(t.w, p, t.r, c.Fail)
	return out, nil
}

func (t *tool) Rest(c identity.Command) (string, error) {
	p, err := build(t.w, t.state, c)
	if err != nil || len(p.ends) > 0 {
		return "something ends", err
	}
	for a, s := range p.steps {
		if is, _ := t.w.Ask(c.Manifest[a].Type, a, c.Manifest[a].Config); is != identity.Valid || s.Replaced || s.Moved() {
			return "something is not right", nil
		}
	}
	return "", nil
}

// applying is an apply at work.
type applying struct {
	planned
	w         *identity.World
	order     match.Ordering
	state     entries
	slots     map[string]string // entry that ends -> its key in the state
	done      map[string]bool
	held      map[string]bool
	confirmed []string // resources that were seen VALID
	ended     map[identity.Knows]bool
	status    string
	told      []identity.Key // of what was said to stay
}

// apply carries a plan out, in any order that the graph allows; it fails with a
// chance at each step.
func apply(w *identity.World, p planned, r *rand.Rand, fail float64) (entries, string, []identity.Key) {
	a := applying{planned: p, w: w, order: p.graph(), state: entries{}, slots: map[string]string{}, done: map[string]bool{}, held: map[string]bool{},
		ended: map[identity.Knows]bool{}, status: identity.Complete, told: slices.Clone(p.told)}
	a.move()
	g := a.order.Before
	barrier := map[string]bool{}
	for n := range g {
		barrier[n] = !strings.HasPrefix(n, "b ") && !strings.HasPrefix(n, "o ") && !strings.HasPrefix(n, "e ")
	}
	for open := slices.Sorted(maps.Keys(g)); len(open) > 0; {
		var ready []int
		for i, n := range open {
			if !slices.ContainsFunc(g[n], func(before string) bool { return !a.done[before] }) {
				ready = append(ready, i)
			}
		}
		if len(ready) == 0 {
			return a.state, identity.Deadlock, a.told
		}
		i := identity.Pick(r, ready...)
		n := open[i]
		open = slices.Delete(open, i, i+1)
		switch {
		case barrier[n]:
		case slices.Contains(a.order.Held, n):
			a.status = identity.Partial
			a.held[n] = true
		case identity.Chance(r, fail):
			a.status = identity.Failed
			return a.state, a.status, a.told
		case !a.do(n):
			return a.state, a.status, a.told
		}
		a.done[n] = true
	}
	for _, d := range a.confirmed { // what was right before the last end is asked again
		b := a.declared[d]
		if status, _ := w.Ask(b.Type, d, b.Config); a.ended[b.Type] && status != identity.Valid {
			a.status = identity.TookIt
			if len(a.order.Loose) == 0 {
				a.status = identity.TookLate
			}
		}
	}
	return a.state, a.status, a.told
}

// move gives the entries their addresses of now. Who has lost its address is deposed.
func (a *applying) move() {
	taken := map[string]bool{}
	for d, s := range a.steps {
		if s.Recorded != "" {
			e := a.known[s.Recorded]
			e.address, e.deposed = d, false
			a.state[d] = e
			taken[s.Recorded] = true
		}
	}
	for _, k := range slices.Sorted(maps.Keys(a.known)) {
		if taken[k] {
			continue
		}
		slot, e := k, a.known[k]
		if _, occupied := a.state[k]; occupied || a.ends[k].Deposed {
			slot = a.depose(e)
		} else {
			a.state[slot] = e
		}
		a.slots[k] = slot
	}
}

// depose keeps an entry under a key of its own.
func (a *applying) depose(e entry) string {
	for i := 1; ; i++ {
		slot := fmt.Sprintf("%s (deposed %d)", e.address, i)
		if _, taken := a.state[slot]; !taken {
			e.deposed = true
			a.state[slot] = e
			return slot
		}
	}
}

// do carries out a node; false ends the apply.
func (a *applying) do(node string) bool {
	what := node[2:]
	switch node[0] {
	case 'e':
		e, slot := a.known[what], a.slots[what]
		if a.ends[what].Forget {
			a.told = append(a.told, e.key())
		} else if !a.destroy(what, e) {
			return false
		}
		delete(a.state, slot)
	case 'o':
		s := a.steps[what]
		e := a.known[s.Recorded]
		if stays(s) {
			a.told = append(a.told, e.key())
		} else if !a.destroy(s.Recorded, e) {
			return false
		}
		delete(a.state, a.slots[s.Recorded])
	default:
		return a.begin(what)
	}
	return true
}

// destroy ends a thing, unless it turns out now to be that of another resource.
func (a *applying) destroy(recorded string, e entry) bool {
	for d, s := range a.steps {
		b := a.declared[d]
		if !b.Late || a.done[begins(d)] || s.Recorded == recorded || slices.ContainsFunc(b.Needs, func(n string) bool { return has(a.order.Before, begins(n)) && !a.done[begins(n)] }) {
			continue
		}
		if _, ends := a.clash(d, thingOf(b.Type, a.version, b.Config), a.isDone); slices.Contains(ends, recorded) {
			a.status = identity.Outdated
			return false
		}
	}
	if k := e.key(); a.w.Things[k] != nil {
		delete(a.w.Things, k)
		a.ended[e.ty] = true
	}
	return true
}

// isDone reports whether the end of an entry is through.
func (a *applying) isDone(recorded string) bool {
	if a.gone(ending(recorded)) {
		return true
	}
	return slices.ContainsFunc(slices.Collect(maps.Values(a.steps)), func(s match.Pair) bool {
		return s.Recorded == recorded && a.gone(oldOf(s.Address))
	})
}

// stays reports whether the old side of a replacement is left: it is another's, or
// it differs in the path of a plug alone.
func stays(s match.Pair) bool { return s.Owner != "" || match.OnlyPathsDiffer(s.Differences) }

// gone reports whether an end is through, and was not held.
func (a *applying) gone(node string) bool { return a.done[node] && !a.held[node] }

// begin asks for a thing, and makes it what it is to be.
func (a *applying) begin(d string) bool {
	b, s := a.declared[d], a.steps[d]
	if b.Late {
		if owner, ends := a.clash(d, thingOf(b.Type, a.version, b.Config), a.isDone); owner != "" || len(ends) > 0 {
			a.status = identity.Outdated
			return false
		}
		if s.MayStay {
			a.told = append(a.told, a.known[s.Recorded].key())
		}
	}
	status, _ := a.w.Ask(b.Type, d, b.Config)
	switch {
	case status == identity.Valid:
	case b.ReadOnly:
		a.status = identity.Failed
		return false
	default:
		a.w.Set(b.Type, d, b.Config)
	}
	if s.Replaced && !a.gone(oldOf(d)) { // the old one is still there
		a.slots[s.Recorded] = a.depose(a.state[d])
	}
	a.state[d] = entry{ty: b.Type, c: b.Config, name: d, version: a.version, readOnly: b.ReadOnly, needs: slices.Clone(b.Needs), address: d}
	a.confirmed = append(a.confirmed, d)
	return true
}
