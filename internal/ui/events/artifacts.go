package events

import (
	"fmt"

	"deployster/internal/base/words"
	"deployster/internal/runtime/artifact"
	"deployster/plan/artifacts"
)

// ArtifactChecked reports which version of an artifact its image has.
type ArtifactChecked struct {
	Artifact string            `json:"artifact"`
	Space    string            `json:"space,omitempty"`
	Version  artifact.Version  `json:"version"`          // the version that the plan uses
	Was      artifact.Version  `json:"was,omitempty"`    // the recorded version
	Newer    int               `json:"newer,omitempty"`  // versions between the recorded one, or a pin, and the newest
	Pinned   string            `json:"pinned,omitempty"` // where it is pinned: manifest, lock file or rollback
	Unlisted bool              `json:"unlisted,omitempty"`
	Metadata artifact.Metadata `json:"metadata,omitempty"`
}

// ArtifactFetched reports that the files of a version were fetched.
type ArtifactFetched struct {
	Artifact string           `json:"artifact"`
	Space    string           `json:"space,omitempty"`
	Version  artifact.Version `json:"version"`
	Tree     string           `json:"tree"` // a hash over all files
	Files    int64            `json:"files"`
	Bytes    int64            `json:"bytes"`
}

// OfChecked returns the event of a check.
func OfChecked(p artifacts.Pin) Event {
	message := fmt.Sprintf("artifact.%s: %s", p.Name, p.Recipe.Version)
	if p.Was != nil && p.Moves() {
		message = fmt.Sprintf("artifact.%s: %s -> %s", p.Name, p.Was, p.Recipe.Version)
	}
	return newEvent(Info, message, ArtifactChecked{Artifact: p.Name, Space: p.Recipe.Space, Version: p.Recipe.Version, Was: p.Was,
		Newer: p.Newer, Pinned: p.Pinned, Unlisted: p.Unlisted, Metadata: p.Metadata})
}

// OfFetched returns the event of a get.
func OfFetched(h artifact.Held) Event {
	message := fmt.Sprintf("artifact.%s: fetched %s, %s, %s", h.Name, h.Version,
		words.Count(int(h.Files), "file"), words.Bytes(h.Bytes))
	return newEvent(Info, message, ArtifactFetched{Artifact: h.Name, Space: h.Space, Version: h.Version, Tree: h.Tree, Files: h.Files,
		Bytes: h.Bytes})
}
