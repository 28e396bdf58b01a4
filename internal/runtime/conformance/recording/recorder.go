package recording

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
)

// Exchange is one run of the image: its input and its output. Long texts are truncated.
type Exchange struct {
	Step     string   `json:"step"` // NAME/init, NAME/state, ...
	Args     []string `json:"args,omitempty"`
	Stdin    string   `json:"stdin"`
	Stdout   string   `json:"stdout"`
	Stderr   string   `json:"stderr"`
	ExitCode int      `json:"exit_code"`
	Error    string   `json:"error,omitempty"` // why the program did not end by itself
	Millis   int64    `json:"duration_ms"`
}

// Run is one run of the image, unchanged.
type Run struct {
	Spec   runner.Spec
	Result runner.Result
	Err    error
}

// Recorder is a Runner that records all runs, and can change what the image is sent and
// how it is run.
type Recorder struct {
	Runner  runner.Runner
	edit    func(*runner.Spec) // nil = nothing is changed
	Forgets bool               // the type has a memory, which must not be shown
	Actions runner.Runner      // runs the actions; nil = runner does

	mu   sync.Mutex
	runs []Run
	mark int // where the runs of the current check begin
}

// Resolve implements runner.Runner.
func (rec *Recorder) Resolve(ctx context.Context, reference string) (runner.Image, error) {
	return rec.Runner.Resolve(ctx, reference)
}

// Run implements runner.Runner. Nothing shares a container here.
func (rec *Recorder) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	s.Reuse, s.ReuseActions = false, false
	if rec.Actions != nil && s.Kind == runner.Action {
		return rec.Actions.Run(ctx, s)
	}
	return rec.Record(ctx, s)
}

// Record runs an image, in a shared container if the Spec allows it, and records the run.
func (rec *Recorder) Record(ctx context.Context, s runner.Spec) (runner.Result, error) {
	if rec.edit != nil {
		rec.edit(&s)
	}
	s.ListWrites = s.Kind == runner.Action && !s.Reuse
	r, err := rec.Runner.Run(ctx, s)
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.runs = append(rec.runs, Run{s, r, err})
	return r, err
}

func (rec *Recorder) BeginCheck() {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.mark = len(rec.runs)
}

// WithEdit calls f while edit changes what the image is sent and how it is run.
func (rec *Recorder) WithEdit(edit func(*runner.Spec), f func()) {
	rec.edit = edit
	defer func() { rec.edit = nil }()
	f()
}

// All returns every run so far.
func (rec *Recorder) All() []Run {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return rec.runs[:len(rec.runs):len(rec.runs)]
}

// Current returns the runs of the current check.
func (rec *Recorder) Current() []Run { return rec.All()[rec.mark:] }

// Wrote returns what the actions of the current check left in their containers, safe to show.
func (rec *Recorder) Wrote() (paths []string) {
	for _, r := range rec.Current() {
		for _, path := range r.Result.Wrote {
			paths = append(paths, diag.Visible(path))
		}
	}
	return paths
}

// WroteEver reports whether an action has left files in its container.
func (rec *Recorder) WroteEver() bool {
	return slices.ContainsFunc(rec.All(), func(r Run) bool { return len(r.Result.Wrote) > 0 })
}

// LastStdout returns the stdout of the last run.
func (rec *Recorder) LastStdout() []byte {
	runs := rec.All()
	if len(runs) == 0 {
		return nil
	}
	return runs[len(runs)-1].Result.Stdout
}

// StreamHint adds a hint to fix if the answer is on stderr.
func (rec *Recorder) StreamHint(fix string) string {
	runs := rec.Current()
	if len(runs) == 0 {
		return fix
	}
	r := runs[len(runs)-1].Result
	if len(strings.TrimSpace(string(r.Stdout))) == 0 && jsondoc.KindOf(r.Stderr) == "an object" {
		return "The answer is on stderr. It belongs on stdout; stderr is for the log. " + fix
	}
	return fix
}

// shownRuns is how many runs of a check are shown: two show a difference.
const shownRuns = 2

// Exchanges returns the last runs of the current check, safe to show.
func (rec *Recorder) Exchanges(hide func(string) string) []Exchange {
	runs := rec.Current()
	runs = runs[max(0, len(runs)-shownRuns):]
	var out []Exchange
	for _, r := range runs {
		if rec.Forgets {
			r.Spec.Stdin, r.Result.Stdout = typeclient.Forgotten(r.Spec.Stdin), typeclient.Forgotten(r.Result.Stdout)
		}
		if r.Spec.Confidential { // its answer is a secret, and so may its log be
			r.Result.Stdout = []byte("(not shown)")
			if r.Result.ExitCode == 0 {
				r.Result.Stderr = nil
			}
		}
		out = append(out, Shown(r.Spec, r.Result, r.Err, hide))
	}
	return out
}

// Shown returns a run of an image, safe to show.
func Shown(s runner.Spec, r runner.Result, err error, hide func(string) string) Exchange {
	x := Exchange{Step: s.Name, Args: s.Args, ExitCode: r.ExitCode, Millis: r.Duration.Milliseconds(),
		Stdin: Cut(hide(string(s.Stdin))), Stdout: Cut(hide(string(r.Stdout))), Stderr: Cut(hide(string(r.Stderr)))}
	if err != nil {
		x.Error = err.Error()
	}
	return x
}

// maxShown is how many bytes of a text are in the report.
const maxShown = 4 << 10

func Cut(s string) string {
	s = strings.ToValidUTF8(strings.TrimRight(s, "\n"), "\ufffd")
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:maxShown], "") + "…"
}

// AddKeys adds a key to stdin that no image knows, as a later deployster may. The keys
// in its value have names of the protocol's own keys, which misleads an image that
// searches the text instead of parsing the JSON.
func AddKeys(s *runner.Spec) {
	text := strings.TrimRight(string(s.Stdin), "\n")
	if body, ok := strings.CutSuffix(text, "}"); ok && json.Valid(s.Stdin) {
		s.Stdin = []byte(body + `,"grease":{"name":"grease","intent":"absent","config":{"grease":true},"list":[1,null,"}"]}}` + "\n")
	}
}
