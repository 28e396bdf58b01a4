package state

import "deployster/state/content"

// The content of a state, see state/content.
type (
	Snapshot     = content.Snapshot
	Entry        = content.Entry
	Deposed      = content.Deposed
	LastSeen     = content.LastSeen
	Sensitive    = content.Sensitive
	Output       = content.Output
	Pin          = content.Pin
	PinSensitive = content.PinSensitive
	Artifact     = content.Artifact
	Applied      = content.Applied
	InFlight     = content.InFlight
	Status       = content.Status
	Duration     = content.Duration
	Kept         = content.Kept
	Transfer     = content.Transfer
	Transferred  = content.Transferred
	Announced    = content.Announced
	Other        = content.Other
	Scheduled    = content.Scheduled
	Operation    = content.Operation
	Operations   = content.Operations
	Passed       = content.Passed
)

// The format of the state file and of its journal, and the statuses of runs.
const (
	Format     = content.Format
	MaxApplied = content.MaxApplied

	StatusOK          = content.StatusOK
	StatusIncomplete  = content.StatusIncomplete
	StatusError       = content.StatusError
	StatusInterrupted = content.StatusInterrupted
	StatusDied        = content.StatusDied
)

// Parse reads the bytes of a state file, see content.Parse.
func Parse(path string, data []byte) (Snapshot, error) { return content.Parse(path, data) }

// EntryHash is the fingerprint of an entry, see content.EntryHash.
func EntryHash(e Entry) string { return content.EntryHash(e) }

// NewID returns a random id, for a lineage, a plan or a run.
func NewID() string { return content.NewID() }
