package match

import (
	"reflect"
	"slices"
	"strings"
)

// Why reports why a declared resource and an entry were paired.
type Why string

// The reasons. Nothing reports that no entry was found.
const (
	Nothing    Why = ""
	Identity   Why = "identity"    // they are one object
	Same       Why = "same"        // the same address and config
	SameConfig Why = "same config" // a guess
	Address    Why = "address"     // the same address, and they may be one object
	Other      Why = "other"       // the same address and another object
)

// Pair is what Match decides about a declared resource.
type Pair struct {
	Address  string // of the declared resource
	Recorded string // the key of its entry; "" = it has none
	From     string // the address of its entry
	Why      Why

	// Replaced reports that the entry's object is destroyed, and another created. Owner is the
	// declared resource whose object the old one is: then it is forgotten, not destroyed.
	Replaced    bool
	Owner       string
	Unsure      bool         // Owner has another env, network or read-only plug: it may be another object
	Differences []Difference // what makes it another object; none = it is replaced on request

	// MayStay reports that it is unknown whether the config means the recorded object: the
	// object of the recorded config may stay behind.
	MayStay bool
}

// Same reports whether the same was decided about a resource.
func (p Pair) Same(q Pair) bool { return reflect.DeepEqual(p, q) }

// Moved reports whether an entry gets another address.
func (p Pair) Moved() bool { return p.Recorded != "" && p.From != p.Address }

// End is what becomes of an entry that no declared resource has.
type End struct {
	Recorded string // its key
	Address  string
	// Forget reports that its object is not destroyed. Owner is the declared resource whose
	// object it is, or is guessed to be; "" = the entry was read_only.
	Forget bool
	Owner  string
	Unsure bool // Owner has another env, network or read-only plug: it may be another object
	// Deposed reports that a declared resource has its address.
	Deposed bool
}

// Duplicate is an object that two blocks declare.
type Duplicate struct{ First, Second string }

// Result is what Match decides.
type Result struct {
	Pairs      []Pair      // of every declared resource, sorted by address
	Ends       []End       // sorted by key
	Duplicates []Duplicate // errors: Duplicate object

	in Input
}

// Pair returns what was decided about a declared resource, the zero Pair if there is none
// at the address.
func (r Result) Pair(address string) Pair {
	at, found := slices.BinarySearchFunc(r.Pairs, address, func(p Pair, addr string) int { return strings.Compare(p.Address, addr) })
	if !found {
		return Pair{}
	}
	return r.Pairs[at]
}

// Means reports whether Match knew the identity of a resource, and it equals that of this
// object as its config names it.
func (r Result) Means(address string, t Object) bool {
	at, known := slices.BinarySearchFunc(r.in.Declared, address,
		func(d Declared, addr string) int { return strings.Compare(d.Address, addr) })
	return known && !r.in.Declared[at].Late && SameNames(t, r.in.Declared[at].Thing)
}
