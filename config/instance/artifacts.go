package instance

import (
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
)

// Artifact is a declared artifact: all its attributes are known before anything runs.
type Artifact struct {
	Name     string
	TypeRef  string // the image reference as written, after resolving type.X
	Pull     runner.PullPolicy
	Verify   *runner.Verify
	Settings runner.Settings
	Source   Resolved          // objects
	Params   Resolved          // of get
	Space    string            // "" = the one that the image announces
	Version  map[string]string // the pin in the block; nil = none
	Check    time.Duration     // 0 = the default
	Get      time.Duration
	// Passed are the addresses of resources: only versions with which all of these were VALID are used; nil = all are.
	Passed []string
	// Metadata: an expression reads its metadata.
	Metadata bool
	Range    diag.Range // the block's header
}

// Publish has the parts of a resource that is a publish.
type Publish struct {
	Artifact   string // the artifact that has its type and source
	Idempotent bool
	Fetch      bool    // what it has put is fetched
	Inputs     []Input // sorted by name
}

// Input is a directory that a publish gives to its image.
type Input struct {
	Name     string
	Artifact string // or
	Plug     string
}
