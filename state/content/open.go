package content

import (
	"maps"
	"slices"

	"deployster/state/actions"
	"deployster/state/moves"
	"deployster/state/place"
)

// KeepOpen returns the state with the open actions of another one, and the entries that they need.
func (s Snapshot) KeepOpen(of Snapshot) Snapshot {
	next := s.Clone()
	for _, addr := range of.Unknown() {
		if len(next.Unsettled[addr].Open()) > 0 {
			continue
		}
		next.Unsettled[addr] = of.Unsettled[addr]
		on, _ := moves.OperationAt(addr)
		if _, known := next.Resources[on]; !known {
			if entry, was := of.Resources[on]; was {
				next.Resources = maps.Clone(next.Resources)
				next.Resources[on] = entry
			}
		}
	}
	return next
}

// IsOpen reports whether it is unknown how the action with that key ended.
func (s Snapshot) IsOpen(addr, key string) bool {
	return slices.ContainsFunc(s.Unsettled[addr].Open(), func(a actions.Attempt) bool { return a.Key == key })
}

// Hold marks resources with actions that may still run on another machine, which lost its
// claim and is not known to be dead. It does not mark those with a host: the host reports how
// an action ended to whoever holds the state, and refuses actions from the earlier holder.
func (s Snapshot) Hold(machine string) Snapshot {
	for addr, u := range s.Unsettled {
		if len(u.Open()) > 0 && u.By.Machine != machine && s.Host(addr) == nil {
			u.Held = true
			s.Unsettled[addr] = u
		}
	}
	return s
}

// OnHold returns the addresses, sorted, of resources with actions that may still run on another
// machine than the one that uses the state at this place. A state in a file is used by one machine.
func (s Snapshot) OnHold(at place.Place) (addresses []string) {
	remote, shared := at.(*place.Remote)
	for _, addr := range s.Unknown() {
		if u := s.Unsettled[addr]; shared && u.Held && u.By.Machine != remote.Machine && s.Host(addr) == nil {
			addresses = append(addresses, addr)
		}
	}
	return addresses
}
