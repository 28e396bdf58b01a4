package router

import (
	"fmt"
	"maps"
	"slices"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/remote"
	"deployster/protocol"
)

// Pin is the entry of a host in a plan: the machine that answered, or why none did.
type Pin struct {
	Address     string              `json:"address"` // where it was reached, for people
	Machine     string              `json:"machine,omitempty"`
	Facts       *protocol.HostFacts `json:"facts,omitempty"`
	Unreachable string              `json:"unreachable,omitempty"` // why; resources on this host are left out of the plan
	Anew        bool                `json:"-"`                     // the machine no longer exists, and the plan creates another
}

// Check returns an error if the machine that answers now is not the machine of the plan.
func (p Pin) Check(name string, w remote.Welcome) error {
	if p.Machine != "" && p.Machine != w.Facts.Machine {
		return fmt.Errorf("%s is another machine than when it was planned (%s, and not %s)", name, w.Facts.Machine, p.Machine)
	}
	return nil
}

// SameMachine returns an error if two names lead to one machine: deployster could not
// order the actions under one name with those under the other. It takes a clone for its
// original, since it could not report which of the two has the resources of the state file.
// Several hosts may be one namespace of a cluster, whose containers need no such order.
func SameMachine(pins map[string]Pin) error {
	names := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(pins)) {
		machine := pins[name].Machine
		if f := pins[name].Facts; machine == "" || f != nil && f.OS == remote.ClusterOS {
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
