package plan

import (
	"deployster/state"
)

// transfers returns the entries that have gone to other states, or have come from there, as a plan lists them.
func transfers(s state.Snapshot) (list []state.Transferred) {
	for _, t := range s.Transferred {
		if !t.Seen {
			t.Entry = nil
			list = append(list, t)
		}
	}
	return list
}

// Saw returns the addresses of transfers with which a plan agrees: it does not declare what has gone, and
// declares what has come.
func (p *Plan) Saw() (addresses []string) {
	for _, t := range p.Transfers {
		step := p.Resources[p.now(t.Address)]
		switch {
		case t.To != nil && step == nil && !p.Partial(), t.From != nil && step != nil && step.Change() != Left:
			addresses = append(addresses, t.Address)
		}
	}
	return addresses
}

// now returns the address that a recorded resource has with this plan.
func (p *Plan) now(addr string) string {
	for _, m := range p.Moves {
		if m.From == addr {
			return m.To
		}
	}
	return addr
}
