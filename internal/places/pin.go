package places

import (
	"fmt"

	"deployster/internal/far"
	"deployster/protocol"
)

// Pin is what a plan says of a host: the machine that answered, or why none did.
type Pin struct {
	Address     string              `json:"address"` // how it was reached, for people
	Machine     string              `json:"machine,omitempty"`
	Facts       *protocol.HostFacts `json:"facts,omitempty"`
	Unreachable string              `json:"unreachable,omitempty"` // why: what is on it is left out
	Anew        bool                `json:"-"`                     // the machine is not there any more, and the plan makes another
}

// Check says why a machine that answers now is not the one of the plan.
func (p Pin) Check(name string, w far.Welcome) error {
	if p.Machine != "" && p.Machine != w.Facts.Machine {
		return fmt.Errorf("%s is another machine than when it was planned (%s, and not %s)", name, w.Facts.Machine, p.Machine)
	}
	return nil
}
