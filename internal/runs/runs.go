package runs

import (
	"crypto/rand"
	"encoding/hex"
	"path/filepath"
	"time"

	"deployster/internal/base/encryption"
)

// Format is the version of run.json and meta.json.
const Format = 1

// Keep is how many ended runs are kept.
const Keep = 20

// KeepRepairs is how many ended runs of a watch are kept beside them.
const KeepRepairs = 100

// Watch is the command of runs that no person has begun.
const Watch = "watch"

// KeepBytes bounds what all kept runs hold together. The newest run is kept
// however much it holds.
const KeepBytes = 1 << 30

// KeepAll is how many invocations of one run are recorded in any case. After these
// a trivial one is left out: a state that was VALID without a log, and an action that
// succeeded without output.
const KeepAll = 100

// KeepFiles is how many invocations a small run has: when it ends, its queries get
// files of their own. Until then, and in larger runs, a query is a line of
// invocations.jsonl, unless it failed; so is an action after the first KeepAll
// invocations.
const KeepFiles = 20

// The names of the files.
const (
	latestName = "latest"
	runName    = "run.json"
	eventsName = "events.jsonl"
	reportName = "report.json"
	metaName   = "meta.json"
	// linesName has the invocations without files of their own, a line each.
	linesName = "invocations.jsonl"
)

// The files of one run of an image.
const (
	Stdin  = "stdin.json" // what it was sent
	Stdout = "stdout"
	Stderr = "stderr"
)

// Status says how a run ended.
type Status string

// The statuses. Running and Died are found out when a run is read.
const (
	OK          Status = "ok"
	Error       Status = "error"
	Interrupted Status = "interrupted"
	Running     Status = "running"
	Died        Status = "died"    // it was killed, or the machine went down
	Unknown     Status = "unknown" // it does not say
)

// Run is run.json: one run of the tool.
type Run struct {
	Format     int        `json:"format"`
	ID         string     `json:"run"` // the name of its directory; sorts by time
	Command    string     `json:"command"`
	Deployster string     `json:"deployster"` // the tool's version
	Started    time.Time  `json:"started"`
	Ended      *time.Time `json:"ended,omitempty"`
	Status     Status     `json:"status"`
	ExitCode   *int       `json:"exit_code,omitempty"`
	Recorded   int        `json:"recorded"`           // invocations
	LeftOut    int        `json:"left_out,omitempty"` // see KeepAll
	Bytes      int64      `json:"bytes"`              // of all invocations

	dir  string
	keys *encryption.Keyring
}

// WithKeys returns the run with the keys that its files are read with.
func (r Run) WithKeys(keys *encryption.Keyring) Run {
	r.keys = keys
	return r
}

// Step is meta.json: one run of one image.
type Step struct {
	Format   int       `json:"format"`
	Resource string    `json:"resource"`
	Host     string    `json:"host,omitempty"` // where it ran; absent = on the machine of these records
	Step     string    `json:"step"`           // init, state, or the action
	Image    string    `json:"image"`          // its digest
	Started  time.Time `json:"started"`
	Took     float64   `json:"took_seconds"`
	ExitCode *int      `json:"exit_code,omitempty"` // absent when the program did not end by itself
	Problem  string    `json:"problem,omitempty"`   // why it did not

	dir  string
	keys *encryption.Keyring
	line *stepLine // nil = it has files
}

// NewID names a run that starts now. Names sort by time.
func NewID(now time.Time) string {
	var random [3]byte
	_, _ = rand.Read(random[:]) // never fails
	return now.UTC().Format("20060102T150405.000Z") + "-" + hex.EncodeToString(random[:])
}

// Dir returns where the records of a working directory are.
func Dir(workdir string) string { return filepath.Join(workdir, ".deployster", "runs") }
