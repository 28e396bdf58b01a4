package match

import (
	"fmt"
	"slices"
	"strings"
)

// Role is how deployster manages a thing.
type Role int

// The roles. Those other than Managed match at their own address only.
const (
	Managed  Role = iota
	ReadOnly      // it is read, and not changed
	Publish       // an artifact is published there
)

// Declared is a resource of the manifest, at the address that it has now.
type Declared struct {
	Address string
	Thing   Thing
	Role    Role
	Late    bool // a value that names its thing is known only in apply
	New     bool // adopt = false: it must not exist already

	Ignored []string // JSON pointers: config values kept as recorded, if there is an entry; "" = all

	Replace bool // -replace names it

	learned bool // Learn has changed its identity
}

// Recorded is an entry of the state.
type Recorded struct {
	Key     string // names the entry: its address, or another text if it is deposed
	Address string // its present address, after moved blocks
	Thing   Thing
	Role    Role
	Deposed bool // another resource has taken its address
	Leaves  bool // a removed block covers it
}

// Input is all that Match needs to decide. Both lists cover the whole manifest and the
// whole state, whatever is selected, unless Selection.Apart is set.
type Input struct {
	Declared []Declared
	Recorded []Recorded
	Refuted  map[string]bool // the declared resources whose guess did not hold
}

// image returns the repository of a type, with its fragment.
func (t Type) image() string {
	if t.Fragment != "" {
		return t.Repository + "#" + t.Fragment
	}
	return t.Repository
}

// Learn returns the input with the identity that a resource turns out to have when it is
// decided. If the identity changes a second time, the resource no longer ignores anything;
// if it then changes again, or it ignored nothing, Learn returns an error.
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

// Replacing returns the input in which a resource is replaced, whatever its identity is.
func (in Input) Replacing(address string) Input {
	in.Declared = slices.Clone(in.Declared)
	for i := range in.Declared {
		in.Declared[i].Replace = in.Declared[i].Replace || in.Declared[i].Address == address
	}
	return in
}

// Refute returns the input without the guess about a resource, which did not hold, and
// without all other guesses about its image.
func (in Input) Refute(address string) Input {
	refuted := map[string]bool{address: true}
	for other := range in.Refuted {
		refuted[other] = true
	}
	in.Refuted = refuted
	return in
}

// sorted returns the input sorted by addresses and keys.
func (in Input) sorted() Input {
	in.Declared, in.Recorded = slices.Clone(in.Declared), slices.Clone(in.Recorded)
	slices.SortFunc(in.Declared, func(a, b Declared) int { return strings.Compare(a.Address, b.Address) })
	slices.SortFunc(in.Recorded, func(a, b Recorded) int { return strings.Compare(a.Key, b.Key) })
	return in
}
