package artifact

import (
	"context"
	"encoding/json"
	"time"

	"deployster/internal/runner"
	"deployster/protocol"
)

// Protocol is what an image speaks.
type Protocol string

// The protocols. An image with /opt/resource/check, in or out speaks the first.
const (
	Concourse1 Protocol = "concourse-1"
	Artifacts2 Protocol = "artifacts-2"
)

// The steps, as they appear in lines, records and errors.
const (
	StepInfo  = "info"
	StepCheck = "check"
	StepGet   = "get"
	StepPut   = "put"
)

// The times that these get when nothing else is asked. A put may take any.
const (
	DefaultCheckTimeout = 10 * time.Minute
	DefaultGetTimeout   = time.Hour
)

// Target is the image that is asked, and how it is run.
type Target struct {
	Address      string // "artifact.site", "publish.release"
	Reference    string // as the manifest names the image
	Digest       string // of the image to use whatever the reference means now; "" = resolve it
	Settings     runner.Settings
	Pull         runner.PullPolicy
	Verify       *runner.Verify
	CheckTimeout time.Duration // 0 = DefaultCheckTimeout
	GetTimeout   time.Duration // 0 = DefaultGetTimeout
	PutTimeout   time.Duration // 0 = none
}

// Info is what an image is. Images with Protocol Concourse1 have no commands of their own.
type Info struct {
	Protocol   Protocol          `json:"protocol"`
	Reference  string            `json:"reference"` // as it was asked for
	Digest     string            `json:"digest"`
	APIVersion string            `json:"api_version,omitempty"`
	Check      protocol.Command  `json:"check,omitzero"`
	Get        protocol.Command  `json:"get,omitzero"`
	Put        *protocol.Command `json:"put,omitempty"` // nil = it cannot
}

// CanPut reports whether the image publishes.
func (i Info) CanPut() bool { return i.Put != nil }

// CheckInput asks which versions there are.
type CheckInput struct {
	Source json.RawMessage    // an object
	From   map[string]Version // by space, where to begin; a v1 image has the space ""
	Space  string             // the selected one; "" = the one that the image announces
	Keep   int                // newest of the selected space that are kept; 0 = DefaultKeep
	Each   func(Versioned)    // gets every version in the order of the image; nil = nobody does
	Fresh  bool               // ask, whatever was answered before
}

// DefaultKeep is how many of the newest versions of the selected space are kept.
const DefaultKeep = 100

// Checked is what an image listed.
type Checked struct {
	Default  string           // the space that it announced; "" = none
	Selected string           // the space that was asked for, or else announced
	Spaces   map[string]Space // those with a version, by name
	Newest   []Versioned      // of the selected space, oldest first

	// Silent: a v1 image named no version, also when it was asked from the start: by
	// its convention the one it was asked from, if any, is still the newest.
	Silent bool
}

// Found returns the newest version of the selected space.
func (c Checked) Found() (Versioned, bool) {
	s, ok := c.Spaces[c.Selected]
	return s.Last, ok
}

// Space is what was listed in one.
type Space struct {
	Last      Versioned // listed last: the newest
	Count     int
	Continues bool // the one that was asked from is still there
}

// GetInput asks for the files of a version, which are put into a directory of the run.
type GetInput struct {
	Recipe Recipe

	// Take gets the directory when the image has ended well, and may rename it away; the
	// directory is on the file system of the runner's data. With its error the get fails.
	Take func(dir string) error
}

// PutInput publishes.
type PutInput struct {
	ID     string // of the action, by which it can be adopted
	Source json.RawMessage
	Params json.RawMessage

	// Fill puts the inputs into the working directory of the put, which is made anew; nil
	// leaves it empty.
	Fill func(dir string) error

	// Ended is told of the end, while a later command can still adopt the put; see
	// runner.Spec. Put is what the image said, also when it failed.
	Ended func(Put, runner.Result, error) error
}

// Put is what an image says that it did.
type Put struct {
	Created  []Versioned `json:"created,omitempty"`
	Deleted  []Versioned `json:"deleted,omitempty"`
	Metadata Metadata    `json:"metadata,omitempty"` // of the last created; v1 only
}

// Client asks images. It is safe for concurrent use. Its errors are diagnostics; ClassOf
// says what they are about.
type Client interface {
	// Info says what an image speaks. The answer is kept.
	Info(ctx context.Context, t Target) (Info, error)

	// Check lists versions. Equal ones share one answer for the life of the Client, unless
	// they are Fresh, or have an Each.
	Check(ctx context.Context, t Target, i Info, in CheckInput) (Checked, error)

	// Get brings the files of a version, and returns what a v1 image said of them.
	Get(ctx context.Context, t Target, i Info, in GetInput) (Metadata, error)

	// Put publishes, once. What it did is returned with an error too: an image that failed
	// may have said what it did before.
	Put(ctx context.Context, t Target, i Info, in PutInput) (Put, error)

	// ReadPut reads what a put said that another command began, and that has exited, as
	// Put does.
	ReadPut(t Target, i Info, r runner.Result) (Put, error)
}
