package runs

import (
	"crypto/rand"
	"encoding/hex"
	"path/filepath"
	"time"

	"deployster/internal/base/encryption"
	"deployster/state/actions"
)

// Format is the version of run.json and meta.json.
const Format = 1

// Keep is how many ended runs are kept.
const Keep = 20

// KeepRepairs is how many ended runs of a watch are kept in addition.
const KeepRepairs = 100

// Watch is the command of a run that a watch started, and not a person.
const Watch = "watch"

// KeepBytes limits the size of all kept runs together. The newest run is kept whatever
// its size.
const KeepBytes = 1 << 30

// KeepAll is how many invocations of one run are always recorded. After these, trivial
// ones are left out: a state query that was VALID without a log, and an action that
// succeeded without output.
const KeepAll = 100

// KeepFiles is the largest number of invocations of a small run. When a small run ends,
// its queries get files of their own. Until then, and in larger runs, a query is a line
// of invocations.jsonl, unless it failed. An action after the first KeepAll invocations
// is a line too, unless it failed.
const KeepFiles = 20

// The names of the files of a run.
const (
	latestName = "latest"
	runName    = "run.json"
	eventsName = "events.jsonl"
	reportName = "report.json"
	metaName   = "meta.json"
	// linesName has one line for each invocation without files of its own.
	linesName = "invocations.jsonl"
)

// The files of one invocation of an image.
const (
	Stdin  = "stdin.json" // its input
	Stdout = "stdout"
	Stderr = "stderr"
)

// Status reports how a run ended, or that it is in progress.
type Status string

// The statuses. Running and Died are determined when a run is read.
const (
	OK          Status = "ok"
	Incomplete  Status = "incomplete"
	Error       Status = "error"
	Interrupted Status = "interrupted"
	Running     Status = "running"
	Died        Status = "died"    // the run was killed, or the machine went down
	Unknown     Status = "unknown" // run.json is missing or cannot be read
)

// Run is run.json: one run of deployster.
type Run struct {
	Format     int    `json:"format"`
	ID         string `json:"run"` // the name of its directory; sorts by time
	Command    string `json:"command"`
	Deployster string `json:"deployster"`     // the version of deployster
	Host       string `json:"host,omitempty"` // of the command
	actions.Author
	Plan     string     `json:"plan,omitempty"` // the id of the plan that was applied
	Started  time.Time  `json:"started"`
	Ended    *time.Time `json:"ended,omitempty"`
	Status   Status     `json:"status"`
	ExitCode *int       `json:"exit_code,omitempty"`
	Recorded int        `json:"recorded"`           // invocations
	LeftOut  int        `json:"left_out,omitempty"` // see KeepAll
	Bytes    int64      `json:"bytes"`              // of all invocations

	dir  string
	keys *encryption.Keyring
}

// WithKeys returns the run with the keys to decrypt its files.
func (r Run) WithKeys(keys *encryption.Keyring) Run {
	r.keys = keys
	return r
}

// Step is meta.json: one invocation of an image.
type Step struct {
	Format   int       `json:"format"`
	Resource string    `json:"resource"`
	Host     string    `json:"host,omitempty"` // where it ran; absent = on the machine of these records
	Pod      string    `json:"pod,omitempty"`  // in which it ran, on a cluster
	Step     string    `json:"step"`           // init, state, or the action
	Image    string    `json:"image"`          // its digest
	Started  time.Time `json:"started"`
	Took     float64   `json:"took_seconds"`
	ExitCode *int      `json:"exit_code,omitempty"` // absent if the program did not end by itself
	Problem  string    `json:"problem,omitempty"`   // why the program did not end by itself

	dir  string
	keys *encryption.Keyring
	line *stepLine // nil = the step has files
}

// NewID returns a name for a run that starts now. Names sort by time.
func NewID(now time.Time) string {
	var random [3]byte
	_, _ = rand.Read(random[:]) // never fails
	return now.UTC().Format("20060102T150405.000Z") + "-" + hex.EncodeToString(random[:])
}

// Dir returns the directory of the records of a working directory.
func Dir(workdir string) string { return filepath.Join(workdir, ".deployster", "runs") }
