package state

import "deployster/state/actions"

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

// Failed records that the step of a resource has failed.
func (j *Journal) Failed(addr string) error {
	return j.append(record{Kind: kindFailed, Address: addr})
}
