package content

import (
	"maps"
	"slices"
	"time"

	"deployster/state/moves"
)

// Transfer marks an entry that is being transferred from one state to another. Neither of the two acts
// on its object, and the entry is in both until it has arrived.
type Transfer struct {
	ID   string    `json:"id"` // of the transfer: both states have the same
	At   time.Time `json:"at"`
	To   *Other    `json:"to,omitempty"`   // it leaves to there; or
	From *Other    `json:"from,omitempty"` // it arrives from there
}

// Transferred is what a state remembers of an entry that has gone to another state, or has come
// from one.
type Transferred struct {
	Transfer
	Address string `json:"address"`
	// Seen reports that an apply has ended since that agreed with it: a manifest no longer declares
	// what has gone, or declares what has come.
	Seen bool `json:"seen,omitempty"`
	// Entry has what identifies the object of an entry that has gone: exclusive sets keep it.
	Entry *Entry `json:"entry,omitempty"`
}

// Announced is an entry that another state is about to give to this one: its transfer has an id, and where it comes from. Its
// entry has what identifies the object.
type Announced struct {
	Format  int    `json:"format"`
	Address string `json:"address"` // in this state
	Entry   Entry  `json:"entry"`
}

// Other is the state at the other end of a transfer, and the address there.
type Other struct {
	State   string `json:"state"` // its URL, or the path of its file
	Lineage string `json:"lineage,omitempty"`
	Address string `json:"address"`
}

// Other returns the state at the other end.
func (t Transfer) Other() Other {
	switch {
	case t.To != nil:
		return *t.To
	case t.From != nil:
		return *t.From
	}
	return Other{}
}

// Travels returns the addresses, sorted, of the entries that are being transferred.
func (s Snapshot) Travels() (addresses []string) {
	for addr, e := range s.Resources {
		if e.Transfer != nil {
			addresses = append(addresses, addr)
		}
	}
	slices.Sort(addresses)
	return addresses
}

// Went returns what is known of the entry of an address that has gone to another state; nil = none has.
func (s Snapshot) Went(addr string) *Transferred {
	return s.transferred(addr, func(t Transfer) bool { return t.To != nil })
}

// Came returns what is known of the entry at an address that has come from another state; nil = it has not.
func (s Snapshot) Came(addr string) *Transferred {
	return s.transferred(addr, func(t Transfer) bool { return t.From != nil })
}

func (s Snapshot) transferred(addr string, is func(Transfer) bool) *Transferred {
	for _, t := range slices.Backward(s.Transferred) {
		if t.Address == addr && is(t.Transfer) {
			return &t
		}
	}
	return nil
}

// See notes that an apply has ended that agreed with the transfers of these addresses. What has come is
// forgotten then.
func (s *Snapshot) See(addresses []string) {
	var list []Transferred
	for _, t := range s.Transferred {
		if slices.Contains(addresses, t.Address) {
			t.Seen = true
		}
		if !t.Seen || t.To != nil {
			list = append(list, t)
		}
	}
	s.Transferred = list
}

// Departs returns the reduced entry of an object that leaves the state: what identifies it.
func (e Entry) Departs() *Entry {
	return &Entry{Type: e.Type, Digest: e.Digest, Config: e.Config, ValidAt: e.ValidAt, Settings: e.Settings, Mounts: e.Mounts,
		Identity: e.Identity, Kind: e.Kind, Defaults: e.Defaults, Sensitive: Sensitive{Config: e.Sensitive.Config, Env: e.Sensitive.Env}}
}

// Apart returns an entry as it begins in another state: its addresses are those of there, of what
// comes with it, and what was seen and done here is not known there.
func (e Entry) Apart(to map[string]string) Entry {
	e.Seen, e.Acted = nil, 0
	e.Dependencies = slices.DeleteFunc(slices.Clone(e.Dependencies), func(addr string) bool { return to[addr] == "" })
	e.Aliases = maps.Clone(e.Aliases)
	maps.DeleteFunc(e.Aliases, func(_, addr string) bool { return to[addr] == "" })
	return e.Renamed(to)
}

// Without returns an entry that no longer refers to addresses that have left its state.
func (e Entry) Without(gone map[string]string) Entry {
	left := func(addr string) bool { return gone[addr] != "" }
	if slices.ContainsFunc(e.Dependencies, left) {
		e.Dependencies = slices.DeleteFunc(slices.Clone(e.Dependencies), left)
	}
	e.Aliases, e.Seen = maps.Clone(e.Aliases), maps.Clone(e.Seen)
	maps.DeleteFunc(e.Aliases, func(_, addr string) bool { return left(addr) })
	maps.DeleteFunc(e.Seen, func(addr string, _ uint64) bool { return left(addr) })
	if len(e.Aliases) == 0 {
		e.Aliases = nil
	}
	if len(e.Seen) == 0 {
		e.Seen = nil
	}
	return e
}

// HasDeposed reports whether objects of an address wait for their end.
func (s Snapshot) HasDeposed(addr string) bool {
	for key := range s.Resources {
		if at, number := moves.RecordedAt(key); number > 0 && at == addr {
			return true
		}
	}
	return false
}
