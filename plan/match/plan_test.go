package match_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/internal/base/graph"
	"deployster/internal/testkit/identity"
	"deployster/plan/match"
)

// entry is what the state knows.
type entry struct {
	ty       identity.Knows
	c        identity.Config
	name     string // under which its object was made
	version  int    // of the type
	readOnly bool
	needs    []string
	address  string // where it stands; of a deposed one, where it stood
	deposed  bool
}

func (e entry) key() identity.Key { return identity.KeyOf(e.ty, e.name, e.c) }

type entries map[string]entry // by key

// typeOf is what a type says of itself: without the key, with one name, with two and
// a kind.
func typeOf(ty identity.Knows, version int) match.Type {
	t := match.Type{Repository: "docker.io/lab/" + string(ty)}
	if version >= identity.Mirrored {
		t.Repository, version = "mirror.local/"+string(ty), version-identity.Mirrored
	}
	if ty != identity.ByIdentity || version == 0 {
		return t
	}
	t.Names = []match.Name{{Pointer: "/id", Scalar: "integer"}}
	if version == 2 {
		t.Kind = "thing"
		t.Names = append(t.Names, match.Name{Pointer: "/region", Default: json.RawMessage(`"eu"`), Scalar: "string"})
	}
	return t
}

func thingOf(ty identity.Knows, version int, c identity.Config) match.Object {
	text := fmt.Sprintf(`{"id":%d,"v":%d}`, c.ID, c.V)
	if c.Region != "" {
		text = fmt.Sprintf(`{"id":%d,"region":%q,"v":%d}`, c.ID, c.Region, c.V)
	}
	t := match.Object{Type: typeOf(ty, version), Config: json.RawMessage(text)}
	if strings.HasPrefix(c.Place, "/") {
		t.Plugs = []match.Plug{{Name: "world", Path: c.Place, Writable: true}}
	} else {
		t.Host = c.Place
	}
	return t
}

// planned is a plan.
type planned struct {
	match.Result
	in       match.Input
	known    entries // with the addresses of now
	declared identity.Manifest
	steps    map[string]match.Pair // that are selected
	ends     map[string]match.End
	version  int            // of the types, today
	told     []identity.Key // what the plan says may stay
}

// build makes a plan, as plan.Build will.
func build(w *identity.World, before entries, c identity.Command) (planned, error) {
	m, version := c.Manifest, c.Version
	p := planned{known: maps.Clone(before), declared: m, steps: map[string]match.Pair{}, ends: map[string]match.End{}, version: version}
	for from, to := range c.Moved {
		e, there := p.known[from]
		_, taken := p.known[to]
		if _, declared := m[from]; there && !taken && !declared {
			delete(p.known, from)
			e.address = to
			p.known[to] = e
		}
	}
	in := match.Input{}
	for a, b := range m {
		d := match.Declared{Address: a, Thing: thingOf(b.Type, version, b.Config), Late: b.Late, Replace: c.Replace[a]}
		if b.ReadOnly {
			d.Role = match.ReadOnly
		}
		in.Declared = append(in.Declared, d)
	}
	for k, e := range p.known {
		r := match.Recorded{Key: k, Address: e.address, Thing: thingOf(e.ty, e.version, e.c), Deposed: e.deposed}
		if e.readOnly {
			r.Role = match.ReadOnly
		}
		in.Recorded = append(in.Recorded, r)
	}
	p.in, p.Result = in, match.Match(in)
	if len(p.Duplicates) > 0 {
		return p, fmt.Errorf("two blocks, one thing: %v", p.Duplicates)
	}
	p.confirm(w)
	p.choose(c.Target)
	for _, s := range p.steps {
		if s.MayStay || s.Why == match.SameConfig {
			p.told = append(p.told, p.known[s.Recorded].key())
		}
	}
	return p, nil
}

// confirm asks the guesses, each under both names, until all that are left hold.
func (p *planned) confirm(w *identity.World) {
	for again := true; again; {
		again = false
		in := p.in
		for _, g := range p.Pairs {
			if g.Why != match.SameConfig {
				continue
			}
			b := p.declared[g.Address]
			status, is := w.Ask(b.Type, g.Address, b.Config)
			old, was := w.Ask(b.Type, p.known[g.Recorded].name, b.Config)
			switch {
			case status != old || status == identity.Stale && is != was:
				in.Refute(g.Address)
				again = true
			case status == identity.Missing:
				in.Withdraw(g.Address)
				again = true
			}
		}
		if again {
			p.in, p.Result = in, match.Match(in)
		}
	}
}

// clash finds what stands in the way of a resource whose identity is known only in
// apply: an entry that the plan ends and that is not done yet, or another resource
// with the same thing.
func (p *planned) clash(address string, t match.Object, done func(recorded string) bool) (owner string, ends []string) {
	ending := func(key string) {
		e := p.known[key]
		if relation, _ := match.Compare(t, thingOf(e.ty, e.version, e.c), false); relation == match.Equal && !done(key) {
			ends = append(ends, key)
		}
	}
	for _, e := range p.Ends {
		if !e.Forget {
			ending(e.Recorded)
		}
	}
	for _, s := range p.Pairs {
		if s.Replaced && s.Owner == "" && s.Address != address {
			ending(s.Recorded)
		}
	}
	for _, d := range p.in.Declared {
		if relation, _ := match.Compare(t, d.Thing, false); relation == match.Equal && d.Role == match.Managed && !d.Late && d.Address != address {
			owner = d.Address
		}
	}
	return owner, ends
}

// ties says which addresses a plan can only take together: those between which an
// entry moves. What is selected at one end is so at the other.
func (p *planned) ties() graph.Graph {
	ties := graph.Graph{}
	for _, s := range p.Pairs {
		if s.Moved() {
			ties[s.Address], ties[s.From] = append(ties[s.Address], s.From), append(ties[s.From], s.Address)
		}
	}
	return ties
}

// choose takes what is selected, with all that belongs to it.
func (p *planned) choose(target []string) {
	chosen := map[string]bool{}
	ties := p.ties()
	for open := slices.Clone(target); len(open) > 0; {
		a := open[len(open)-1]
		open = open[:len(open)-1]
		if !chosen[a] {
			chosen[a] = true
			open = append(append(open, ties[a]...), p.declared[a].Needs...)
		}
	}
	for _, s := range p.Pairs {
		if target == nil || chosen[s.Address] {
			p.steps[s.Address] = s
		}
	}
	for _, e := range p.Ends {
		if target == nil || chosen[e.Address] {
			p.ends[e.Recorded] = e
		}
	}
}

// The nodes of an apply.
func begins(a string) string   { return "b " + a }
func oldOf(a string) string    { return "o " + a }
func ending(key string) string { return "e " + key }

// graph orders the work, as plan and apply will.
func (p *planned) graph() match.Ordering {
	g := graph.Graph{}
	at := map[string]string{} // entry -> the step that has it
	for a, s := range p.steps {
		g[begins(a)] = nil
		if s.Replaced {
			g[oldOf(a)] = nil
		}
		if s.Recorded != "" {
			at[s.Recorded] = a
		}
	}
	for k := range p.ends {
		g[ending(k)] = nil
	}
	add := func(node, before string) {
		if !slices.Contains(g[node], before) {
			g[node] = append(g[node], before)
		}
	}
	for a, s := range p.steps {
		for _, n := range p.declared[a].Needs {
			if _, there := g[begins(n)]; there {
				add(begins(a), begins(n))
			}
		}
		switch {
		case p.createFirst(s):
			add(oldOf(a), begins(a))
		case s.Replaced:
			add(begins(a), oldOf(a))
		}
	}
	var releases []match.Edge
	for _, k := range slices.Sorted(maps.Keys(p.known)) {
		for _, dependency := range p.known[k].needs {
			releases = append(releases, p.removalEdge(g, at, k, dependency, add)...)
		}
	}
	var begin []match.Begin
	var finish []match.Finish
	declared, recorded := p.Classes()
	for _, a := range p.declared.Addresses() {
		s, chosen := p.steps[a]
		begin = append(begin, match.Begin{Node: begins(a), Class: declared[a], Late: p.declared[a].Late, LeftOut: !chosen})
		if chosen && s.Replaced && !stays(s) {
			finish = append(finish, match.Finish{Node: oldOf(a), Class: recorded[s.Recorded], Of: begins(a), CreateFirst: p.createFirst(s)})
		}
	}
	for _, k := range slices.Sorted(maps.Keys(p.ends)) {
		if !p.ends[k].Forget {
			finish = append(finish, match.Finish{Node: ending(k), Class: recorded[k]})
		}
	}
	return match.Order(g, releases, begin, finish)
}

// createFirst reports whether what replaces a thing is made before it goes: one thing
// cannot be there twice.
func (p *planned) createFirst(s match.Pair) bool {
	return s.Replaced && s.Why == match.Other && p.declared[s.Address].CreateFirst
}

// removalEdge lets a thing go after what was recorded as depending on it.
func (p *planned) removalEdge(g graph.Graph, at map[string]string, dependant, dependency string, add func(node, before string)) []match.Edge {
	target := ending(dependency)
	if _, there := g[target]; !there {
		if target = oldOf(at[dependency]); !has(g, target) {
			return nil
		}
	}
	a, taken := at[dependant]
	switch {
	case has(g, ending(dependant)):
		add(target, ending(dependant))
	case taken && has(g, oldOf(a)) && !p.createFirst(p.steps[a]):
		add(target, oldOf(a))
	case taken && has(g, begins(a)):
		return []match.Edge{{Node: target, After: begins(a)}}
	}
	return nil
}

func has(g graph.Graph, node string) bool {
	_, there := g[node]
	return there
}
