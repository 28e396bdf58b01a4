package artifacts

import (
	"maps"
	"time"

	"deployster/config"
	"deployster/internal/runtime/artifact"
	"deployster/state"
)

// Pin is the version of an artifact that a plan uses, and what people should know of it.
type Pin struct {
	state.Pin
	Key      string            `json:"key"` // the key of the recipe; it depends on secrets too
	Info     artifact.Info     `json:"info"`
	Metadata artifact.Metadata `json:"metadata,omitempty"`
	// Spaces are the newest versions of all spaces, as expressions see them.
	Spaces map[string]config.SpaceVersion `json:"spaces,omitempty"`

	Was         artifact.Version `json:"was,omitempty"`      // the recorded version; nil = none
	Newer       int              `json:"newer,omitempty"`    // versions between Was, or a pin, and the newest
	Unlisted    bool             `json:"unlisted,omitempty"` // Was is no longer listed
	Pinned      string           `json:"pinned,omitempty"`   // where it is pinned: "manifest", "lock file", "rollback", "" = nowhere
	Unrefreshed bool             `json:"believed,omitempty"` // no check was run
	Note        string           `json:"note,omitempty"`
	// Waits is a newer version that has not passed the addresses WaitsFor, which the block names in passed.
	Waits    artifact.Version `json:"waits,omitempty"`
	WaitsFor []string         `json:"waits_for,omitempty"`

	// Of the files, where they are fetched.
	Tree  string `json:"tree,omitempty"`
	Files int64  `json:"files,omitempty"`
	Bytes int64  `json:"bytes,omitempty"`

	// How long its image may take; 0 = the default.
	Check state.Duration `json:"check_timeout,omitempty"`
	Get   state.Duration `json:"get_timeout,omitempty"`
}

// Where a version is pinned.
const (
	InManifest = "manifest"
	InLock     = "lock file"
	InRollback = "rollback" // by the plan that a rollback goes back to
)

// Moves reports whether the version differs from the recorded one.
func (p Pin) Moves() bool { return !p.Recipe.Version.Is(p.Was) }

// Version returns the version with its space and metadata.
func (p Pin) Version() artifact.Versioned {
	return artifact.Versioned{Space: p.Recipe.Space, Version: p.Recipe.Version, Metadata: p.Metadata}
}

// Value returns what expressions see of the pin.
func (p Pin) Value() config.ArtifactValue {
	return config.ArtifactValue{Space: p.Recipe.Space, Version: p.Recipe.Version, Metadata: p.Metadata.Map(), Spaces: p.Spaces}
}

// Values returns what expressions see of all pins, by name.
func Values(pins map[string]Pin) map[string]config.ArtifactValue {
	if len(pins) == 0 {
		return nil
	}
	out := make(map[string]config.ArtifactValue, len(pins))
	for name, p := range pins {
		out[name] = p.Value()
	}
	return out
}

// Masked returns a copy that may be shown. It has no key if secrets are part of that.
func (p Pin) Masked() Pin {
	if p.Sensitive.Any() {
		p.Key = ""
	}
	p.Pin = p.Pin.Masked()
	return p
}

// maxHeads limits how many newest versions of spaces an entry records.
const maxHeads = 1000

// Recorded returns what the state keeps of a pin.
func (p Pin) Recorded(at time.Time) state.Artifact {
	heads := map[string]artifact.Version{p.Recipe.Space: p.Recipe.Version}
	if len(p.Spaces) <= maxHeads {
		for space, newest := range p.Spaces {
			heads[space] = maps.Clone(newest.Version)
		}
	}
	return state.Artifact{Pin: p.Pin, Metadata: p.Metadata, Heads: heads, At: at.UTC()}
}
