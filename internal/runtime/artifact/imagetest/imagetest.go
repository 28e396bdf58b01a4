package imagetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/artifact/images"
	"deployster/internal/runtime/conformance/recording"
	"deployster/internal/runtime/conformance/report"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
)

// Options say what to test, and how.
type Options struct {
	Runner    runner.Runner
	Inspector runner.Inspector
	Image     string
	Source    json.RawMessage   // an object
	Sensitive []string          // JSON pointers to its secrets
	Put       json.RawMessage   // params of a put; nil = no put
	Inputs    map[string]string // of the put: files and directories of this host
	Settings  runner.Settings
	Timeout   time.Duration // of each run; 0 = deployster's default
	Version   string        // of deployster
	Workspace string
	Verbose   bool

	Done func(report.Check)
	Hide func(string) string
	Log  func(typeclient.Line)
}

// Run tests an image. The error says why the test could not run; the faults of the image
// are in the report.
func Run(ctx context.Context, o Options) (report.Report, error) {
	began := time.Now()
	image, err := o.Runner.Resolve(ctx, o.Image)
	if err != nil {
		return report.Report{}, err
	}
	e := &engine{o: o, report: report.Report{Format: 1, Image: image.Reference, Digest: image.Digest, Status: report.Pass}}
	e.target = artifact.Target{Address: "artifact.test", Reference: o.Image, Digest: image.Digest, Settings: o.Settings,
		CheckTimeout: o.Timeout, GetTimeout: o.Timeout, PutTimeout: o.Timeout}
	e.target.Settings.InitTimeout = o.Timeout
	e.client = e.newClient()
	e.all(ctx)
	if e.failed == nil {
		e.failed = context.Cause(ctx)
	}
	e.report.Millis = time.Since(began).Milliseconds()
	return e.report, e.failed
}

// engine is a running test.
type engine struct {
	o      Options
	target artifact.Target
	client artifact.Client
	report report.Report

	info    artifact.Info
	newest  artifact.Versioned // the newest version that check listed
	tree    string             // hash of the files of a get
	holding []string           // fetched files that contain secrets
	made    artifact.Put       // the answer of the put
	failed  error              // why the test cannot go on; not the image's fault

	mu    sync.Mutex
	edit  func(*runner.Spec) // changes how the image is run; nil = no change
	runs  []run
	mark  int      // index in runs where the current check started
	lines []string // that the image printed
}

// run is one run of the image.
type run struct {
	spec   runner.Spec
	result runner.Result
	err    error
}

// Resolve implements runner.Runner.
func (e *engine) Resolve(ctx context.Context, reference string) (runner.Image, error) {
	return e.o.Runner.Resolve(ctx, reference)
}

// Run implements runner.Runner, and records all runs.
func (e *engine) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	if e.edit != nil {
		e.edit(&s)
	}
	r, err := e.o.Runner.Run(ctx, s)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.runs = append(e.runs, run{s, r, err})
	return r, err
}

// newClient returns a client without known answers.
func (e *engine) newClient() artifact.Client {
	types := typeclient.New(typeclient.Options{Runner: e, Version: e.o.Version, Verbose: e.o.Verbose, Workspace: e.o.Workspace,
		Log: func(line typeclient.Line) {
			e.mu.Lock()
			e.lines = append(e.lines, line.Text)
			e.mu.Unlock()
			if e.o.Log != nil {
				e.o.Log(line)
			}
		}})
	return images.New(images.Options{Types: types, Inspector: e.o.Inspector})
}

// outcome is the result of a check.
type outcome struct {
	verdict     report.Verdict
	reason, fix string
	err         error // why there is no verdict
}

func pass(format string, args ...any) outcome {
	return outcome{verdict: report.Pass, reason: fmt.Sprintf(format, args...)}
}

func skip(format string, args ...any) outcome {
	return outcome{verdict: report.Skip, reason: fmt.Sprintf(format, args...)}
}

func fail(fix, format string, args ...any) outcome {
	return outcome{verdict: report.Fail, fix: fix, reason: fmt.Sprintf(format, args...)}
}

// failWith is a failure with the message that users get for an error. A fault of the
// machine gives no verdict.
func failWith(fix string, err error) outcome {
	switch artifact.ClassOf(err) {
	case artifact.Other, artifact.Interrupted, artifact.Unclear:
		return outcome{err: err}
	}
	return fail(fix, "%s", wordsOf(err))
}

func wordsOf(err error) string {
	if list := diag.From("", err); len(list) > 0 {
		return list[0].Detail
	}
	return err.Error()
}

// check makes one check, and reports whether the checks that depend on it can be made.
func (e *engine) check(ctx context.Context, name string, f func(context.Context) outcome) bool {
	if ctx.Err() != nil || e.failed != nil {
		return false
	}
	e.mark = len(e.runs)
	out := f(ctx)
	if ctx.Err() != nil {
		return false // an interrupt is no verdict on the image
	}
	if out.err != nil {
		e.failed = out.err
		return false
	}
	c := report.Check{Name: name, Title: titles[name], Verdict: out.verdict, Reason: e.o.Hide(out.reason), Fix: out.fix}
	if out.verdict == report.Fail {
		for _, r := range e.runs[max(e.mark, len(e.runs)-2):] {
			c.Exchanges = append(c.Exchanges, recording.Shown(r.spec, r.result, r.err, e.o.Hide))
		}
	}
	e.report.Add(c)
	if e.o.Done != nil {
		e.o.Done(c)
	}
	return out.verdict != report.Fail
}

// killed reports whether a run was asked to end, and whether it had to be killed.
func killed(err error) (asked, had bool) {
	var t *runner.TimeoutError
	asked = errors.As(err, &t)
	return asked, asked && t.Killed
}
