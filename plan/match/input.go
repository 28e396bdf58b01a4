package match

import (
	"fmt"
	"slices"
	"strings"
)

// Role is how deployster cares for a thing.
type Role int

// The roles. Those other than Managed match at their own address only.
const (
	Managed  Role = iota
	ReadOnly      // it is looked at, and not changed
	Publish       // an artifact is put there
)

// Declared is a resource of the manifest, at the address that it has now.
type Declared struct {
	Address string
	Thing   Thing
	Role    Role
	Late    bool // a value that names it is known only in apply
	New     bool // adopt = false: it must not be there already

	Ignored []string // JSON pointers: what of its config is as it was recorded, where it is; "" = all

	Replace bool // -replace names it

	learned bool // its identity was known anew when its turn came
}

// Recorded is an entry of the state.
type Recorded struct {
	Key     string // names the entry: its address, or another text of one that is deposed
	Address string // where it stands now, after moved blocks
	Thing   Thing
	Role    Role
	Deposed bool // another resource has taken its address
	Leaves  bool // a removed block says what becomes of it
}

// Input is all that Match decides upon. Both lists are over the whole manifest and
// the whole state, whatever is selected.
type Input struct {
	Declared []Declared
	Recorded []Recorded
	Refuted  map[string]bool // the declared resources whose guess did not hold
}

// image is the repository of a type.
func (t Type) image() string {
	if t.Fragment != "" {
		return t.Repository + "#" + t.Fragment
	}
	return t.Repository
}

// Learn gives the input with the identity that a resource turns out to have at its
// turn. An identity that changes a second time cannot be planned with; before that,
// nothing of it is ignored any more.
func (in Input) Learn(address string, t Thing) (Input, error) {
	list := slices.Clone(in.Declared)
	for i := range list {
		d := &list[i]
		if d.Address != address {
			continue
		}
		if d.learned && len(d.Ignored) == 0 {
			return in, fmt.Errorf("the identity of %s changes each time that it is looked at: it depends on what itself depends on it", address)
		}
		if d.learned {
			d.Ignored = nil
		}
		d.Thing, d.Late, d.learned = t, false, true
	}
	in.Declared = list
	return in, nil
}

// Replacing gives the input in which a resource is replaced, whatever its thing is.
func (in Input) Replacing(address string) Input {
	in.Declared = slices.Clone(in.Declared)
	for i := range in.Declared {
		in.Declared[i].Replace = in.Declared[i].Replace || in.Declared[i].Address == address
	}
	return in
}

// Refute gives the input without the guess about a resource, which did not hold, and
// without all others about its image.
func (in Input) Refute(address string) Input {
	refuted := map[string]bool{address: true}
	for other := range in.Refuted {
		refuted[other] = true
	}
	in.Refuted = refuted
	return in
}

// sorted gives the input in the order of addresses.
func (in Input) sorted() Input {
	in.Declared, in.Recorded = slices.Clone(in.Declared), slices.Clone(in.Recorded)
	slices.SortFunc(in.Declared, func(a, b Declared) int { return strings.Compare(a.Address, b.Address) })
	slices.SortFunc(in.Recorded, func(a, b Recorded) int { return strings.Compare(a.Key, b.Key) })
	return in
}
