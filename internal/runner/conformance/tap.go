package conformance

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"deployster/internal/runner"
)

// Exchange is one run of the image: what it was sent and what it said. Long
// texts are cut.
type Exchange struct {
	Step     string   `json:"step"` // NAME/init, NAME/state, ...
	Args     []string `json:"args,omitempty"`
	Stdin    string   `json:"stdin"`
	Stdout   string   `json:"stdout"`
	Stderr   string   `json:"stderr"`
	ExitCode int      `json:"exit_code"`
	Error    string   `json:"error,omitempty"` // why it did not end by itself
	Millis   int64    `json:"duration_ms"`
}

// run is one run of the image, as it was.
type run struct {
	spec   runner.Spec
	result runner.Result
	err    error
}

// tap is a Runner that remembers all that was said, and can be told to change
// what the image is sent or how it is run.
type tap struct {
	runner runner.Runner
	edit   func(*runner.Spec) // nil = nothing is changed
	act    runner.Runner      // of actions; nil = they are run as the rest is

	mu   sync.Mutex
	runs []run
	mark int // where the check that is made now began
}

// Resolve implements runner.Runner.
func (t *tap) Resolve(ctx context.Context, reference string) (runner.Image, error) {
	return t.runner.Resolve(ctx, reference)
}

// Run implements runner.Runner, in a container of its own.
func (t *tap) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	s.Reuse = false
	if t.act != nil && s.Kind == runner.Action {
		return t.act.Run(ctx, s)
	}
	return t.run(ctx, s)
}

// run carries out an invocation, also in a container that is shared, and keeps
// what came of it.
func (t *tap) run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	if t.edit != nil {
		t.edit(&s)
	}
	r, err := t.runner.Run(ctx, s)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.runs = append(t.runs, run{s, r, err})
	return r, err
}

func (t *tap) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mark = len(t.runs)
}

// all gives every run so far.
func (t *tap) all() []run {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.runs[:len(t.runs):len(t.runs)]
}

// since gives the runs of the check that is made now.
func (t *tap) since() []run { return t.all()[t.mark:] }

// shownRuns is how many runs of a check are shown: those at its end, two of
// which say what differs.
const shownRuns = 2

// last gives the newest runs of the check that is made now, fit to be shown.
func (t *tap) last(hide func(string) string) []Exchange {
	runs := t.since()
	runs = runs[max(0, len(runs)-shownRuns):]
	var out []Exchange
	for _, r := range runs {
		x := Exchange{Step: r.spec.Name, Args: r.spec.Args, ExitCode: r.result.ExitCode, Millis: r.result.Duration.Milliseconds(),
			Stdin: cut(hide(string(r.spec.Stdin))), Stdout: cut(hide(string(r.result.Stdout))), Stderr: cut(hide(string(r.result.Stderr)))}
		if r.err != nil {
			x.Error = r.err.Error()
		}
		out = append(out, x)
	}
	return out
}

// maxShown is how much of a text is reported, in bytes.
const maxShown = 4 << 10

func cut(s string) string {
	s = strings.ToValidUTF8(strings.TrimRight(s, "\n"), "\ufffd")
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:maxShown], "") + "…"
}

// grease adds what no image can know to what it is sent: a deployster of
// tomorrow may say more. What is in it has the names of what is outside, which
// misleads who searches in the text instead of reading the JSON.
func grease(s *runner.Spec) {
	text := strings.TrimRight(string(s.Stdin), "\n")
	if body, ok := strings.CutSuffix(text, "}"); ok && json.Valid(s.Stdin) {
		s.Stdin = []byte(body + `,"grease":{"name":"grease","intent":"absent","config":{"grease":true},"list":[1,null,"}"]}}` + "\n")
	}
}
