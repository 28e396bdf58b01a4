package source

import (
	"encoding/json"
	"time"

	"deployster/protocol"
)

// Instances is the value of the for_each or count of one block, if it was known only
// with states.
type Instances struct {
	Keys  []string `json:"for_each,omitempty"` // sorted
	Count *int     `json:"count,omitempty"`
}

// ArtifactValue is the value of an artifact in expressions.
type ArtifactValue struct {
	Space    string                  `json:"space"`
	Version  map[string]string       `json:"version"`
	Metadata map[string]string       `json:"metadata,omitempty"`
	Spaces   map[string]SpaceVersion `json:"spaces,omitempty"` // the newest version of each space
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

// Sources holds everything that a manifest is loaded from. What Find returns is live;
// the sources in a plan are replayed: then Reads is all that file() and similar
// functions may read, and Load reads no file of this machine.
type Sources struct {
	Workspace string // absolute: the working directory, path.cwd
	Dir       string // absolute: path.root, and where file() reads
	Manifests []File
	// Modules holds the files of each module's directory, by its path relative to the
	// working directory. Load reads those that are missing.
	Modules map[string][]File
	// Instances holds the for_each and count that were known only with the states of
	// resources, by the address of the block.
	Instances map[string]Instances
	// Artifacts holds the values of artifacts with known versions, by their names.
	Artifacts map[string]ArtifactValue
	// Hosts holds the known facts of hosts, by their names: web["a"].
	Hosts map[string]protocol.HostFacts
	// Remote holds what other states publish, by the names of remote_state blocks: of a plan, what it has used.
	Remote map[string]RemoteState
	Reads  map[string][]byte   // what file() and similar functions read, by slash path relative to Dir
	Lists  map[string][]string // the results of fileset(), by directory and pattern
	Home   string              // the value of ~ in pathexpand()
	Replay bool
	// Packages obtains modules that are not directories of this machine; nil = there can be none.
	Packages Packages
	Edited   Edited `json:"-"`
}

// Builtins holds the values of the root object `deployster`, and the home directory
// that `~` in a plug's path stands for.
type Builtins struct {
	Version   string // of deployster; checked against required_version
	Verbose   bool
	Workspace string // "" = that of the Sources
	Home      string // "" = os.UserHomeDir
	// PlanTime is the time of the plan that uses this manifest, the result of
	// plantimestamp; zero = no plan, and it is unknown.
	PlanTime time.Time
	// Remote reads what another state publishes; nil = it is unknown.
	Remote func(url string, keys *Encryption) (RemoteState, error)
}

// Encryption is the manifest's settings for the encryption of stored files: the state
// file, its copies and journal, saved plans and records of runs. Paths are as the
// manifest has them.
type Encryption struct {
	Enabled        bool // false: encrypted files are written in clear text from now on
	PassphraseEnv  string
	PassphraseFile string
	// The former passphrase, which is only used to decrypt.
	OldPassphraseEnv  string
	OldPassphraseFile string
	Recipients        []string // if there are any, passphrases are only used to decrypt
	IdentityFiles     []string
}

// RemoteState is what another state publishes, or what of it is used.
type RemoteState struct {
	URL     string                  `json:"url"` // or the path of its file
	Lineage string                  `json:"lineage"`
	Serial  uint64                  `json:"serial"`
	Status  string                  `json:"status"` // of the last run there
	Outputs map[string]RemoteOutput `json:"outputs,omitempty"`
	Missing []string                `json:"missing,omitempty"` // used, and not published; sorted
}

// RemoteOutput is the value of an output of another state.
type RemoteOutput struct {
	Value     json.RawMessage `json:"value"`
	Sensitive bool            `json:"sensitive,omitempty"`
}
