package identity

import (
	"maps"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan/match"
	"deployster/plan/order"
	"deployster/plan/query"
	"deployster/state/moves"
)

// Matched is which recorded object each resource means, by the facts at a time.
type Matched struct {
	Facts *Facts       // what all was matched with
	Moves []moves.Move // the addresses that entries get

	result  match.Result
	ends    map[string]match.End // by present address
	deposed map[string]string    // address of a replaced resource -> key of the entry that is removed later
}

// Match pairs resources with entries, and gives the entries of the subject the addresses that
// follow. duplicates are the resources of which another one declares the object: then it has
// reported that, and returns no Matched.
func (f *Facts) Match(x *query.Session) (m *Matched, duplicates []string) {
	m = &Matched{Facts: f, result: match.Match(f.input), ends: map[string]match.End{}, deposed: map[string]string{}}
	if duplicates = m.duplicates(x); len(duplicates) > 0 {
		return nil, duplicates
	}
	f.open = map[string]bool{}
	taken := map[string]match.Role{}
	for _, e := range f.input.Recorded {
		taken[e.Key] = e.Role
	}
	for _, p := range m.result.Pairs {
		if m.createdFirst(p, taken, x.Subject.Selection.OtherPath) {
			key := freeKey(p.Address, taken)
			m.deposed[p.Address] = key
			m.ends[key] = match.End{Recorded: p.Recorded, Address: p.Address, Deposed: true}
			m.Moves = append(m.Moves, moves.Move{From: p.Recorded, To: key, Why: order.CreateFirst})
		} else if p.Moved() {
			m.Moves = append(m.Moves, moves.Move{From: p.Recorded, To: p.Address, Why: string(p.Why)})
		}
	}
	for _, e := range m.result.Ends {
		addr := e.Recorded
		if _, number := moves.RecordedAt(addr); e.Deposed && number == 0 {
			addr = freeKey(e.Address, taken)
			m.Moves = append(m.Moves, moves.Move{From: e.Recorded, To: addr, Why: string(match.Other)})
		}
		m.ends[addr] = e
	}
	x.Findings.Report(nil, "", append(x.Subject.Identify(m.Moves), x.Subject.CheckReplaced()...))
	return m, nil
}

// duplicates reports the objects that two blocks declare, and returns the second ones.
func (m *Matched) duplicates(x *query.Session) (list []string) {
	places := map[string]*config.Resource{}
	for _, r := range x.Subject.Manifest.Resources() {
		places[r.Address] = r
	}
	for _, t := range m.result.Duplicates {
		first, second := places[t.First], places[t.Second]
		if !x.Subject.Wanted(t.First) && !x.Subject.Wanted(t.Second) {
			continue
		}
		list = append(list, t.Second)
		x.Findings.Report(second, "", diag.Diagnostics{diag.Errorf("Duplicate object",
			"%s and %s (%s) have the same identity (%s), so each would change the object of the other. Give one of them another "+
				"identity, or remove it.", config.Reference(t.Second),
			config.Reference(t.First), first.Range, strings.Join(x.Types.TypeOf(t.Second).Identity, ", "))})
	}
	return list
}

// createdFirst reports whether the new object of a resource is created before the recorded one
// is destroyed, whose entry gets another key for that. An object that is not destroyed at all
// needs no such key.
func (m *Matched) createdFirst(p match.Pair, taken map[string]match.Role, otherPath bool) bool {
	return p.Replaced && m.Facts.first[p.Address] && p.Why != match.Identity &&
		p.Owner == "" && !(match.OnlyPathsDiffer(p.Differences) && !otherPath) && taken[p.Recorded] != match.ReadOnly
}

// freeKey takes the first free key for a deposed entry of an address.
func freeKey(addr string, taken map[string]match.Role) string {
	key := moves.Depose(addr, func(key string) bool { _, is := taken[key]; return is })
	taken[key] = match.Managed
	return key
}

// Pair returns the entry of a resource, and why it has that one.
func (m *Matched) Pair(addr string) match.Pair { return m.result.Pair(addr) }

// Guessed reports whether the entry of a resource is a guess.
func (m *Matched) Guessed(addr string) bool { return m.Pair(addr).Why == match.SameConfig }

// End returns what becomes of the entry at an address that no resource has.
func (m *Matched) End(addr string) match.End { return m.ends[addr] }

// Ends returns, by key, the present addresses of the entries that no resource has.
func (m *Matched) Ends() map[string]string {
	now := make(map[string]string, len(m.ends))
	for addr, e := range m.ends {
		now[e.Recorded] = addr
	}
	return now
}

// Deposed returns the key of the entry whose object is removed after the resource is
// created; "" = the resource is not replaced in that order.
func (m *Matched) Deposed(addr string) string { return m.deposed[addr] }

// Classes returns the class of the object of each resource, by address, and of each entry,
// by key: see match.Result.Classes.
func (m *Matched) Classes() (declared, recorded map[string]string) { return m.result.Classes() }

// Learn compares the object that a resource means, as it is when the resource is decided, with
// the one that it was matched with. It reports whether they are equal; else the resource
// is matched again, unless there is an error.
func (m *Matched) Learn(addr string, object match.Object) (equal bool, err error) {
	if m.result.Pairs == nil || m.result.Means(addr, object) {
		return true, nil
	}
	return false, m.Facts.learn(addr, object)
}

// Changed lists the resources that have another entry than before.
func (m *Matched) Changed(before *Matched) (list []string) {
	for _, p := range m.result.Pairs {
		was := before.Pair(p.Address)
		matched := was.Address != ""
		if matched && !was.Same(p) || !matched && (p.Moved() || p.Replaced) {
			list = append(list, p.Address)
		}
	}
	return list
}

// Ended lists the addresses of the entries of which something else becomes than before.
func (m *Matched) Ended(before *Matched) (list []string) {
	for addr, end := range before.ends {
		if m.ends[addr] != end {
			list = append(list, addr)
		}
	}
	return list
}

// Depose returns what is matched with the entry of a resource, which means another object
// now, under a key of its own.
func (m *Matched) Depose(addr, key string) *Matched {
	next := *m
	next.Moves = append(slices.Clone(m.Moves), moves.Move{From: addr, To: key, Why: string(match.Other)})
	next.ends = maps.Clone(m.ends)
	next.ends[key] = match.End{Recorded: m.Pair(addr).Recorded, Address: addr, Deposed: true}
	return &next
}
