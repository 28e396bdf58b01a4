package places

import (
	"fmt"
	"maps"
	"slices"

	"deployster/internal/base/diag"
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

// SameMachine refuses two names of one machine: what is done there under one name would
// not be ordered with what is done under the other. A clone is taken for its original:
// which of them has what is recorded could not be told.
func SameMachine(pins map[string]Pin) error {
	names := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(pins)) {
		machine := pins[name].Machine
		if machine == "" {
			continue
		}
		if other, taken := names[machine]; taken {
			return diag.Errorf("Two hosts have one identity",
				"%s (%s) and %s (%s) have the same id: the file id in their data directory. If they are one machine, declare it once. "+
					"If one is a clone of the other, remove that file on the clone.",
				other, pins[other].Address, name, pins[name].Address)
		}
		names[machine] = name
	}
	return nil
}
