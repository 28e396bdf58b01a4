package artifacts

import (
	"deployster/config"
	"deployster/internal/runtime/artifact"
	"deployster/state"
)

// Options are what a Resolver works with.
type Options struct {
	Client      artifact.Client
	Store       artifact.Store // for metadata that only a get returns, and for files that are fetched already
	Declared    []config.Artifact
	Secrets     []string              // of the manifest
	Lock        map[string]config.Pin // the versions in the lock file
	Rollback    bool                  // Lock has those of the plan that a rollback goes back to
	Recorded    map[string]state.Artifact
	UseRecorded bool // run no check where a version is recorded
	Newest      bool // ignore the lock file
	// Follow are the only artifacts whose version may become another than the recorded one, and never one
	// from before it; nil = all may.
	Follow []string
	// Passing are those whose versions have to pass resources, with the versions that have.
	Passing map[string]Passing
	// Known are the versions that an earlier round of the same apply has used: they are used again.
	Known map[string]Pin
	// Checked is called after each check without an error; may be nil.
	Checked func(Pin)
	// Listed is called with what an image has listed; may be nil.
	Listed func(name string, c artifact.Checked)
}
