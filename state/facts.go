package state

import (
	"slices"
	"time"

	"deployster/state/actions"
)

// Pins records the pins that the mounts of a run need, before any container runs.
func (j *Journal) Pins(pins map[string]Pin) error {
	return j.append(record{Kind: kindPins, Pins: pins})
}

// Artifacts records the artifact versions in use, at the end of a successful run. It
// forgets all others.
func (j *Journal) Artifacts(in map[string]Artifact) error {
	return j.append(record{Kind: kindArtifacts, Artifacts: in})
}

// Put records a put before it begins, and the answer of its image when that is known.
func (j *Journal) Put(addr string, p actions.Put) error {
	return j.append(record{Kind: kindPut, Address: addr, Put: &p})
}

// Operations records which operations are scheduled from now on.
func (j *Journal) Operations(declared map[string]Scheduled) error {
	next, err := j.Snapshot().Operations.After(declared, now())
	if err != nil {
		return refuse(err, "Cannot record an operation", "Its input is not valid JSON: %s.", err)
	}
	return j.append(record{Kind: kindOperations, Operations: next})
}

// Turn records that a turn of a scheduled operation begins. It must return nil before the operation is started. until is when
// a run that is not in the journal has ended at the latest; zero = it is in the journal, or has ended.
func (j *Journal) Turn(name string, turn, until time.Time) error {
	turn = turn.UTC()
	r := record{Kind: kindTurn, Action: name, Turn: &turn}
	if !until.IsZero() {
		until = until.UTC()
		r.Until = &until
	}
	return j.append(r)
}

// Former records what is kept of the plan of the run.
func (j *Journal) Former(packed []byte) error {
	return j.append(record{Kind: kindFormer, Former: packed})
}

// Failed records that the step of a resource has failed.
func (j *Journal) Failed(addr string) error {
	return j.append(record{Kind: kindFailed, Address: addr})
}

// Saw records that this run agrees with the transfers of these addresses: it does not declare what
// has gone, or declares what has come.
func (j *Journal) Saw(addresses []string) error {
	if len(addresses) == 0 {
		return nil
	}
	return j.append(record{Kind: kindSaw, Addresses: slices.Clone(addresses)})
}

// entry returns the entry of an address by now.
func (j *Journal) entry(addr string) Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.run.snapshot.Resources[addr]
}

// stays refuses to act on an object whose entry is being transferred between two states.
func stays(addr string, e Entry) error {
	if e.Transfer == nil {
		return nil
	}
	return refuse(ErrBroken, "The resource is being transferred", "%s is being transferred between two states (the other one is %s), and "+
		"neither acts on it. Run `deployster apply` in both to finish that.", addr, e.Transfer.Other().State)
}
