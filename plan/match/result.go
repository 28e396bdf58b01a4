package match

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

	// Replaced: the entry's thing is destroyed, and another is made. CreateFirst is
	// that it is made before the old one goes. Owner is the declared resource whose
	// thing the old one is: it is then forgotten, not destroyed.
	Replaced    bool
	CreateFirst bool
	Owner       string
	Differences []Difference // what makes it another thing; none = -replace

	// MayStay is that nobody can tell whether the config means the recorded thing:
	// what the recorded config named may stay.
	MayStay bool
}

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

// Guesses lists the pairs that are to be confirmed: each is asked at its turn under
// both names, and holds where both answers are of one status.
func (r Result) Guesses() []Pair {
	var list []Pair
	for _, p := range r.Pairs {
		if p.Why == SameConfig {
			list = append(list, p)
		}
	}
	return list
}

// Clash finds what stands in the way of a resource whose identity is known only in
// apply: an entry that the plan ends, or another resource with the same thing. The
// plan is then stale. Done reports whether a resource's own thing, or its old one,
// is through already: what is gone stands in nobody's way.
func (r Result) Clash(address string, t Thing, done func(recorded string) bool) (owner string, ends []string) {
	entries := make(map[string]Recorded, len(r.in.Recorded))
	for _, e := range r.in.Recorded {
		entries[e.Key] = e
	}
	ending := func(key string) {
		if relation, _ := Compare(t, entries[key].Thing, false); relation == Equal && !done(key) {
			ends = append(ends, key)
		}
	}
	for _, e := range r.Ends {
		if !e.Forget {
			ending(e.Recorded)
		}
	}
	for _, p := range r.Pairs {
		if p.Replaced && p.Owner == "" && p.Address != address {
			ending(p.Recorded)
		}
	}
	for _, d := range r.in.Declared {
		if relation, _ := Compare(t, d.Thing, false); relation == Equal && d.Role == Managed && !d.Late && d.Address != address {
			owner = d.Address
		}
	}
	return owner, ends
}
