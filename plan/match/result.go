package match

import (
	"reflect"
	"slices"
	"strings"
)

// Why is what brought a declared resource and an entry together.
type Why string

// The reasons. Nothing is that no entry was found.
const (
	Nothing    Why = ""
	Identity   Why = "identity"    // they are one thing
	Same       Why = "same"        // the same address and config
	SameConfig Why = "same config" // a guess
	Address    Why = "address"     // the same address, and nothing speaks against it
	Other      Why = "other"       // the same address and another thing
)

// Pair is what became of a declared resource.
type Pair struct {
	Address  string // of the declared resource
	Recorded string // the key of its entry; "" = it has none
	From     string // the address of its entry
	Why      Why

	// Replaced: the entry's thing is destroyed, and another is made. Owner is the
	// declared resource whose thing the old one is: it is then forgotten, not destroyed.
	Replaced    bool
	Owner       string
	Unsure      bool         // Owner has another env, network or read-only plug: nobody can tell
	Differences []Difference // what makes it another thing; none = -replace

	// MayStay is that nobody can tell whether the config means the recorded thing:
	// what the recorded config named may stay.
	MayStay bool
}

// Same reports whether the same became of a resource.
func (p Pair) Same(q Pair) bool { return reflect.DeepEqual(p, q) }

// Moved reports whether an entry gets another address.
func (p Pair) Moved() bool { return p.Recorded != "" && p.From != p.Address }

// End is what becomes of an entry that no declared resource has.
type End struct {
	Recorded string // its key
	Address  string
	// Forget: its thing is not destroyed. Owner is the declared resource whose thing
	// it is, or whose guess says so; "" = it was read_only.
	Forget bool
	Owner  string
	Unsure bool // Owner has another env, network or read-only plug: nobody can tell
	// Deposed: a declared resource has its address.
	Deposed bool
}

// Twice is a thing that two blocks declare.
type Twice struct{ First, Second string }

// Result is what Match decides.
type Result struct {
	Pairs []Pair  // of every declared resource, by address
	Ends  []End   // by key
	Twice []Twice // errors: Two blocks, one thing

	in Input
}

// Means reports whether it was known of a resource that it means this thing, as far as
// its config names it.
func (r Result) Means(address string, t Thing) bool {
	at, known := slices.BinarySearchFunc(r.in.Declared, address, func(d Declared, addr string) int { return strings.Compare(d.Address, addr) })
	return known && !r.in.Declared[at].Late && NamedAlike(t, r.in.Declared[at].Thing)
}
