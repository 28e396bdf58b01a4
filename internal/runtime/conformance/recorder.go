package conformance

import (
	"context"
	"encoding/json"
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

// run is one run of the image, unchanged.
type run struct {
	spec   runner.Spec
	result runner.Result
	err    error
}

// recorder is a Runner that records all runs, and can change what the image is sent and
// how it is run.
type recorder struct {
	runner  runner.Runner
	edit    func(*runner.Spec) // nil = nothing is changed
	forgets bool               // the type has a memory, which must not be shown
	actions runner.Runner      // runs the actions; nil = runner does

	mu   sync.Mutex
	runs []run
	mark int // where the runs of the current check begin
}

// Resolve implements runner.Runner.
func (rec *recorder) Resolve(ctx context.Context, reference string) (runner.Image, error) {
	return rec.runner.Resolve(ctx, reference)
}

// Run implements runner.Runner. A query never shares a container here.
func (rec *recorder) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	s.Reuse = false
	if rec.actions != nil && s.Kind == runner.Action {
		return rec.actions.Run(ctx, s)
	}
	return rec.run(ctx, s)
}

// run runs an image, in a shared container if the Spec allows it, and records the run.
func (rec *recorder) run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	if rec.edit != nil {
		rec.edit(&s)
	}
	s.ListWrites = s.Kind == runner.Action
	r, err := rec.runner.Run(ctx, s)
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.runs = append(rec.runs, run{s, r, err})
	return r, err
}

func (rec *recorder) beginCheck() {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.mark = len(rec.runs)
}

// withEdit calls f while edit changes what the image is sent and how it is run.
func (rec *recorder) withEdit(edit func(*runner.Spec), f func()) {
	rec.edit = edit
	defer func() { rec.edit = nil }()
	f()
}

// all returns every run so far.
func (rec *recorder) all() []run {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return rec.runs[:len(rec.runs):len(rec.runs)]
}

// current returns the runs of the current check.
func (rec *recorder) current() []run { return rec.all()[rec.mark:] }

// wrote returns what the actions of the current check left in their containers, safe to show.
func (rec *recorder) wrote() (paths []string) {
	for _, r := range rec.current() {
		for _, path := range r.result.Wrote {
			paths = append(paths, diag.Visible(path))
		}
	}
	return paths
}

// lastStdout returns the stdout of the last run.
func (rec *recorder) lastStdout() []byte {
	runs := rec.all()
	if len(runs) == 0 {
		return nil
	}
	return runs[len(runs)-1].result.Stdout
}

// streamHint adds a hint to fix if the answer is on stderr.
func (rec *recorder) streamHint(fix string) string {
	runs := rec.current()
	if len(runs) == 0 {
		return fix
	}
	r := runs[len(runs)-1].result
	if len(strings.TrimSpace(string(r.Stdout))) == 0 && jsondoc.KindOf(r.Stderr) == "an object" {
		return "The answer is on stderr. It belongs on stdout; stderr is for the log. " + fix
	}
	return fix
}

// shownRuns is how many runs of a check are shown: two show a difference.
const shownRuns = 2

// exchanges returns the last runs of the current check, safe to show.
func (rec *recorder) exchanges(hide func(string) string) []Exchange {
	runs := rec.current()
	runs = runs[max(0, len(runs)-shownRuns):]
	var out []Exchange
	for _, r := range runs {
		if rec.forgets {
			r.spec.Stdin, r.result.Stdout = typeclient.Forgotten(r.spec.Stdin), typeclient.Forgotten(r.result.Stdout)
		}
		out = append(out, Shown(r.spec, r.result, r.err, hide))
	}
	return out
}

// Shown returns a run of an image, safe to show.
func Shown(s runner.Spec, r runner.Result, err error, hide func(string) string) Exchange {
	x := Exchange{Step: s.Name, Args: s.Args, ExitCode: r.ExitCode, Millis: r.Duration.Milliseconds(),
		Stdin: cut(hide(string(s.Stdin))), Stdout: cut(hide(string(r.Stdout))), Stderr: cut(hide(string(r.Stderr)))}
	if err != nil {
		x.Error = err.Error()
	}
	return x
}

// maxShown is how many bytes of a text are in the report.
const maxShown = 4 << 10

func cut(s string) string {
	s = strings.ToValidUTF8(strings.TrimRight(s, "\n"), "\ufffd")
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:maxShown], "") + "…"
}

// addKeys adds a key to stdin that no image knows, as a later deployster may. The keys
// in its value have names of the protocol's own keys, which misleads an image that
// searches the text instead of parsing the JSON.
func addKeys(s *runner.Spec) {
	text := strings.TrimRight(string(s.Stdin), "\n")
	if body, ok := strings.CutSuffix(text, "}"); ok && json.Valid(s.Stdin) {
		s.Stdin = []byte(body + `,"grease":{"name":"grease","intent":"absent","config":{"grease":true},"list":[1,null,"}"]}}` + "\n")
	}
}
