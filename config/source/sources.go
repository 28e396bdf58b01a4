package source

import (
	"time"

	"deployster/protocol"
)

// Instances is what the for_each or count of one block came to, when that was
// known only with the states of others.
type Instances struct {
	Keys  []string `json:"for_each,omitempty"` // sorted
	Count *int     `json:"count,omitempty"`
}

// ArtifactValue is what expressions see of an artifact.
type ArtifactValue struct {
	Space    string                  `json:"space"`
	Version  map[string]string       `json:"version"`
	Metadata map[string]string       `json:"metadata,omitempty"`
	Spaces   map[string]SpaceVersion `json:"spaces,omitempty"` // the newest of each
}

// SpaceVersion is a version of a space.
type SpaceVersion struct {
	Version  map[string]string `json:"version"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// File is one manifest file.
type File struct {
	Path  string // as the user would type it, relative to the working directory
	Bytes []byte
}

// Sources is all that a manifest is made of. What Find returns is live; what a
// plan carries is replayed: then Reads is all that file() and friends may see,
// and no file of this machine is touched.
type Sources struct {
	Workspace string // absolute: the working directory, path.cwd
	Dir       string // absolute: path.root, and where file() looks
	Manifests []File
	// Modules are the files of each module's directory, by its path relative to
	// the working directory. What is not in it is read by Load.
	Modules map[string][]File
	// Instances are the for_each and count that were known only with the states
	// of resources, by the address of the block.
	Instances map[string]Instances
	// Artifacts are the versions that artifacts were found to have, by their names.
	Artifacts map[string]ArtifactValue
	// Hosts are the facts of those hosts that were asked, by their names: web["a"].
	Hosts  map[string]protocol.HostFacts
	Reads  map[string][]byte   // what file() and friends read, by slash path relative to Dir
	Lists  map[string][]string // what fileset() found, by directory and pattern
	Home   string              // what ~ was in pathexpand()
	Replay bool
}

// Builtins are the values of the root object `deployster`, and the home
// directory that `~` in a plug's path stands for.
type Builtins struct {
	Version   string // of this tool; checked against required_version
	Verbose   bool
	Workspace string // "" = that of the Sources
	Home      string // "" = os.UserHomeDir
	// PlanTime is when the plan was made that this manifest is for, which
	// plantimestamp gives; zero = there is none, and it is unknown.
	PlanTime time.Time
}
