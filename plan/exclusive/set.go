package exclusive

import (
	"deployster/internal/runtime/claims"
	"deployster/plan/change"
	"deployster/plan/order"
	"deployster/plan/reason"
)

// Set is what a plan found about one exclusive block.
type Set struct {
	Name string `json:"name"`
	Type string `json:"type"`           // the image, as the manifest names it
	Host string `json:"host,omitempty"` // "" = this machine
	Kind string `json:"kind,omitempty"` // of its objects
	// Within is how the config narrows the set.
	Within claims.Within `json:"within,omitzero"`

	Declared int    `json:"declared"`         // how many of the listed objects are declared
	Purge    []Item `json:"purge,omitempty"`  // what this plan destroys
	Undone   []Item `json:"undone,omitempty"` // what is neither declared nor kept, and not destroyed by this plan
	Kept     []Item `json:"kept,omitempty"`   // what is kept, each with the reason

	// Held are the reasons for which nothing is destroyed.
	Held []*reason.Reason `json:"held,omitempty"`
}

// Item is an object of a set.
type Item struct {
	Identity string         `json:"identity"`
	Why      *reason.Reason `json:"why,omitempty"`
}

// Invalid reports whether a set that was read from a file is not one that a plan can have.
func (s *Set) Invalid() bool {
	for _, list := range [][]Item{s.Purge, s.Undone, s.Kept} {
		for _, item := range list {
			if item.Why.Invalid() {
				return true
			}
		}
	}
	for _, why := range s.Held {
		if why == nil || why.Invalid() {
			return true
		}
	}
	return false
}

// Found is what the sets of a plan add to it.
type Found struct {
	Sets  []Set
	Steps map[string]*change.Step // by address
	// Waits are the points of the order after which the objects of a set are destroyed.
	Waits []order.Barrier
}
