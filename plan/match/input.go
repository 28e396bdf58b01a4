package match

import (
	"fmt"
	"slices"
	"strings"
)

// Role is how deployster manages an object.
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
	Thing   Object
	Role    Role
	Late    bool // a value that names its object is known only in apply
	New     bool // adopt = false: it must not exist already

	Ignored []string // JSON pointers: config values kept as recorded, if there is an entry; "" = all

	Replace bool // -replace names it

	learned bool // Learn has changed its identity
}

// Recorded is an entry of the state.
type Recorded struct {
	Key     string // names the entry: its address, or another text if it is deposed
	Address string // its present address, after moved blocks
	Thing   Object
	Role    Role
	Deposed bool // another resource has taken its address
	Removed bool // a removed block covers it
}

// Input is all that Match needs to decide. Both lists cover the whole manifest and the
// whole state, whatever is selected, unless Selection.Apart is set.
type Input struct {
	Declared  []Declared
	Recorded  []Recorded
	Refuted   map[string]bool // the declared resources whose guess did not hold
	Withdrawn map[string]bool // the declared resources whose guess nothing can confirm

	at map[string]int // where a declared resource is in the list; nil = not needed yet
}

// image returns the repository of a type, with its fragment.
func (t Type) image() string {
	if t.Fragment != "" {
		return t.Repository + "#" + t.Fragment
	}
	return t.Repository
}

// find returns a declared resource; nil = there is none.
func (in *Input) find(address string) *Declared {
	if in.at == nil {
		in.at = make(map[string]int, len(in.Declared))
		for i, d := range in.Declared {
			in.at[d.Address] = i
		}
	}
	if i, declared := in.at[address]; declared {
		return &in.Declared[i]
	}
	return nil
}

// Learn puts the identity into the input that a resource turns out to have when it is
// decided. If the identity changes a second time, the resource no longer ignores anything;
// if it then changes again, or it ignored nothing, Learn returns an error.
func (in *Input) Learn(address string, t Object) error {
	d := in.find(address)
	if d == nil {
		return nil
	}
	if d.learned && len(d.Ignored) == 0 {
		return fmt.Errorf("the identity of %s changes each time that it is computed: it depends on itself", address)
	}
	if d.learned {
		d.Ignored = nil
	}
	d.Thing, d.Late, d.learned = t, false, true
	return nil
}

// Replace has a resource replaced, whatever its identity is.
func (in *Input) Replace(address string) {
	if d := in.find(address); d != nil {
		d.Replace = true
	}
}

// Refute withdraws the guess about a resource, which did not hold, and with it all other
// guesses about its image.
func (in *Input) Refute(address string) {
	if in.Refuted == nil {
		in.Refuted = map[string]bool{}
	}
	in.Refuted[address] = true
}

// Withdraw withdraws the guess about a resource alone, because no object exists that could confirm it.
func (in *Input) Withdraw(address string) {
	if in.Withdrawn == nil {
		in.Withdrawn = map[string]bool{}
	}
	in.Withdrawn[address] = true
}

// sorted returns the input sorted by addresses and keys. Its Declared are a copy, which a
// matcher may change.
func (in Input) sorted() Input {
	in.at = nil
	in.Declared = slices.Clone(in.Declared)
	slices.SortFunc(in.Declared, func(a, b Declared) int { return strings.Compare(a.Address, b.Address) })
	byKey := func(a, b Recorded) int { return strings.Compare(a.Key, b.Key) }
	if !slices.IsSortedFunc(in.Recorded, byKey) {
		in.Recorded = slices.Clone(in.Recorded)
		slices.SortFunc(in.Recorded, byKey)
	}
	return in
}
