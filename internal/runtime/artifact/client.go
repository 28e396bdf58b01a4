package artifact

import (
	"context"
	"encoding/json"
	"time"

	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// Protocol is the protocol of an image.
type Protocol string

// The protocols. An image with /opt/resource/check, in or out speaks the first.
const (
	Concourse1 Protocol = "concourse-1"
	Artifacts2 Protocol = "artifacts-2"
)

// ConcoursePrograms returns the paths of the programs of an image of the first protocol, of
// which it has at least one.
func ConcoursePrograms() []string {
	return []string{"/opt/resource/check", "/opt/resource/in", "/opt/resource/out"}
}

// The steps, as they appear in output lines, records and errors.
const (
	StepInfo  = "info"
	StepCheck = "check"
	StepGet   = "get"
	StepPut   = "put"

	StepDelete = "delete"
)

// The timeouts of check and get when none is given. A put has none.
const (
	DefaultCheckTimeout = 10 * time.Minute
	DefaultGetTimeout   = time.Hour
)

// Target is the image to run, and how to run it.
type Target struct {
	Address      string // "artifact.site", "publish.release"
	Reference    string // as the manifest names the image
	Digest       string // of the image to use, whatever the reference means now; "" = resolve it
	Settings     runner.Settings
	Pull         runner.PullPolicy
	Verify       *runner.Verify
	CheckTimeout time.Duration // 0 = DefaultCheckTimeout
	GetTimeout   time.Duration // 0 = DefaultGetTimeout
	PutTimeout   time.Duration // 0 = none
}

// Info reports which protocol an image has, and its commands.
type Info struct {
	Protocol   Protocol          `json:"protocol"`
	Reference  string            `json:"reference"` // as the manifest names it
	Digest     string            `json:"digest"`
	APIVersion string            `json:"api_version,omitempty"`
	Check      protocol.Command  `json:"check,omitzero"`
	Get        protocol.Command  `json:"get,omitzero"`
	Put        *protocol.Command `json:"put,omitempty"`    // absent = it cannot put
	Delete     *protocol.Command `json:"delete,omitempty"` // absent = it cannot delete a version
}

// CanPut reports whether the image publishes.
func (i Info) CanPut() bool { return i.Put != nil }

// CheckInput is the input of a check.
type CheckInput struct {
	Source json.RawMessage    // an object
	From   map[string]Version // by space, the version to start from; a v1 image has the space ""
	Space  string             // the selected one; "" = the default of the image
	Keep   int                // how many of the newest versions of the selected space are kept; 0 = DefaultKeep
	Each   func(Versioned)    // gets every version in the order of the image; nil = none
	Fresh  bool               // run the image, even if an answer is known
}

// DefaultKeep is how many of the newest versions of the selected space are kept.
const DefaultKeep = 100

// Checked is the result of a check.
type Checked struct {
	Default  string           // the default space of the image; "" = none
	Selected string           // the requested space, or else the default
	Spaces   map[string]Space // those with a version, by name
	Newest   []Versioned      // of the selected space, oldest first

	// Silent: a v1 image listed no version, even when it was queried from the start. By its
	// convention the version that it was queried from, if any, is still the newest.
	Silent bool
}

// Found returns the newest version of the selected space.
func (c Checked) Found() (Versioned, bool) {
	s, ok := c.Spaces[c.Selected]
	return s.Last, ok
}

// Space describes the versions that were listed in one space.
type Space struct {
	Last      Versioned // the last one listed: the newest
	Count     int
	Continues bool // the version that was queried from still exists
}

// DeleteInput names the version that a delete removes where it comes from.
type DeleteInput struct {
	Source json.RawMessage
	Versioned
}

// GetInput is the input of a get, which writes the files of a version into a directory of the run.
type GetInput struct {
	Recipe Recipe

	// Take gets the directory when the image has ended with exit code 0, and may rename it away. It
	// is on the file system of the runner's data. If Take returns an error the get fails.
	Take func(dir string) error
}

// PutInput is the input of a put.
type PutInput struct {
	ID     string // of the action, by which it can be adopted
	Source json.RawMessage
	Params json.RawMessage

	// Fill writes the inputs into the working directory of the put, which is new; nil
	// leaves it empty.
	Fill func(dir string) error

	// Ended is called at the end, while a later command can still adopt the put; see
	// runner.Spec. Put is the answer of the image, also when it failed.
	Ended func(Put, runner.Result, error) error
}

// MaxPutAnswer is the size limit of the answer of a put, in bytes.
const MaxPutAnswer = 16 << 20

// Put is the answer of an image to a put.
type Put struct {
	Created  []Versioned `json:"created,omitempty"`
	Deleted  []Versioned `json:"deleted,omitempty"`
	Metadata Metadata    `json:"metadata,omitempty"` // of the last created version; v1 only
}

// Client runs artifact images. It is safe for concurrent use. Its errors are diagnostics;
// ClassOf returns their class.
type Client interface {
	// Info returns the protocol of an image. The answer is kept.
	Info(ctx context.Context, t Target) (Info, error)

	// Check lists versions. Equal inputs share one answer for the life of the Client,
	// unless they are Fresh, or have an Each.
	Check(ctx context.Context, t Target, i Info, in CheckInput) (Checked, error)

	// Delete removes a version where it comes from. It succeeds too if the version is gone already.
	Delete(ctx context.Context, t Target, i Info, in DeleteInput) error

	// Get fetches the files of a version, and returns the metadata in the answer of a v1 image.
	Get(ctx context.Context, t Target, i Info, in GetInput) (Metadata, error)

	// Put publishes, once. It returns the answer of the image with an error too: an image
	// that failed may have answered before.
	Put(ctx context.Context, t Target, i Info, in PutInput) (Put, error)

	// ReadPut reads the answer of a put that another command started, and that has ended,
	// as Put does.
	ReadPut(t Target, i Info, r runner.Result) (Put, error)
}
