package conformance

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/runner"
	"deployster/internal/runner/typeclient"
	"deployster/internal/runner/typeschema"
	"deployster/protocol"
)

// Options are what is tested, and how.
type Options struct {
	Runner    runner.Runner
	Launcher  runner.Launcher // starts what watches; nil = nothing does
	Image     string          // its name here, or sha256:...
	Name      string          // of the resource; "" = test
	Config    json.RawMessage // of the resource: an object
	Then      json.RawMessage // what it is changed to; nil = it is not changed
	Plugs     map[string]Plug // what the image may have of this host, by the names it asks by
	Settings  runner.Settings // how its containers are run
	Timeout   time.Duration   // of each invocation; 0 = what deployster gives
	Version   string          // of deployster
	Workspace string          // the working directory
	Verbose   bool

	Replace bool // what exists already may be changed and removed
	Keep    bool // the resource is not removed at the end

	// About is called with what the image says of itself, before anything in the
	// world is changed; Done with each check when it has ended. nil = not called.
	About func(protocol.Type)
	Done  func(Check)
	// Hide takes secrets out of what is reported. nil = there are none.
	Hide func(string) string
	// Log gets what the image prints while it runs; nil = it is dropped.
	Log func(typeclient.Line)
}

// Plug is a file or directory of this host, for the image.
type Plug struct {
	Path     string // absolute
	ReadOnly bool
}

// Verdict is the result of a check.
type Verdict string

// The verdicts.
const (
	Pass Verdict = "pass"
	Fail Verdict = "fail"
	Skip Verdict = "skip"
)

// Check is one rule of the protocol, and whether the image keeps it.
type Check struct {
	Name      string     `json:"name"`
	Title     string     `json:"title"` // what is right when it passes
	Verdict   Verdict    `json:"verdict"`
	Reason    string     `json:"reason,omitempty"` // why it failed or was skipped; what else there is to say
	Fix       string     `json:"fix,omitempty"`    // what the author does now
	Exchanges []Exchange `json:"exchanges,omitempty"`
}

// Report is the outcome of a run.
type Report struct {
	Format     int     `json:"format"` // 1
	Image      string  `json:"image"`
	Digest     string  `json:"digest"`
	Label      string  `json:"label,omitempty"`
	Protocol   int     `json:"protocol"`
	Speaks     string  `json:"speaks,omitempty"` // an image of artifacts: concourse-1 or artifacts-2
	Status     Verdict `json:"status"`           // pass, or fail when a check failed
	Passed     int     `json:"passed"`
	Failed     int     `json:"failed"`
	Skipped    int     `json:"skipped"`
	LeftBehind bool    `json:"left_behind"` // what was made is still there, or may be
	Millis     int64   `json:"duration_ms"`
	Checks     []Check `json:"checks"`
}

// Add takes down a check that has ended.
func (r *Report) Add(c Check) {
	switch c.Verdict {
	case Pass:
		r.Passed++
	case Fail:
		r.Failed++
		r.Status = Fail
	case Skip:
		r.Skipped++
	}
	r.Checks = append(r.Checks, c)
}

// Run tests an image. The error says why the test could not be made: an image or a
// plug that is not here, something that exists already, an interrupt. What the image
// does wrong is in the report, which is filled as far as the test came.
func Run(ctx context.Context, o Options) (Report, error) {
	if o.Name == "" {
		o.Name = "test"
	}
	if o.Hide == nil {
		o.Hide = func(s string) string { return s }
	}
	began := time.Now()
	image, err := o.Runner.Resolve(ctx, o.Image)
	if err != nil {
		return Report{}, err
	}
	e := &engine{o: o, recorder: &recorder{runner: o.Runner}, report: Report{Format: 1, Image: image.Reference, Digest: image.Digest,
		Status: Pass}}
	e.target = typeclient.Target{Address: o.Name, Reference: o.Image, Digest: image.Digest, Settings: o.Settings,
		StateTimeout: o.Timeout, ActionTimeout: o.Timeout}
	e.target.Settings.InitTimeout = o.Timeout
	e.watching.e = e
	err = e.all(ctx)
	if e.failed != nil {
		err = e.failed
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	e.report.LeftBehind = e.made
	e.report.Millis = time.Since(began).Milliseconds()
	return e.report, err
}

// lastConfig returns the last config of the resource.
func (o Options) lastConfig() json.RawMessage {
	if o.Then != nil {
		return o.Then
	}
	return o.Config
}

// engine is a running test.
type engine struct {
	o        Options
	recorder *recorder
	target   typeclient.Target
	report   Report

	ty         protocol.Type
	init       string          // its answer, in canonical form
	first      protocol.Answer // of the state, before anything was done
	valid      protocol.Answer // of the state, when it was right
	memory     json.RawMessage // what is remembered; nil = nothing
	acted      []string        // the actions that were run last
	watching   watching
	made       bool // the test may have made something that is there now
	remembered bool // something was remembered when it was right
	schemas    typeschema.Schemas
	failed     error // why the test cannot go on; not the image's fault
}

// all makes the checks: first those that change nothing.
func (e *engine) all(ctx context.Context) error {
	if !e.check(ctx, checkInit, e.askInit) {
		return nil
	}
	e.report.Label, e.report.Protocol = e.ty.Label, e.ty.Protocol
	var err error
	if e.target.Mounts, err = mounts(e.ty, e.o.Plugs); err != nil {
		return err
	}
	if e.o.About != nil {
		e.o.About(e.ty)
	}
	e.check(ctx, checkInitAgain, e.askInitAgain)
	e.check(ctx, checkInitKeys, e.addKeysToInit)
	e.check(ctx, checkInitTerm, e.terminateInit)
	fits := e.check(ctx, checkConfig, e.checkConfig)
	e.check(ctx, checkStrict, e.checkStrict)
	e.check(ctx, checkIdentity, func(context.Context) outcome { return identityIsSaid(e) })
	if !fits {
		e.skipAll("the config does not fit the schema", checkState)
		return nil
	}
	secrets := func(context.Context) outcome {
		return printsNoSecret(e, []json.RawMessage{e.o.Config, e.o.Then}, e.recorder.all())
	}
	if !e.check(ctx, checkState, e.askFirst) {
		e.skipAll("the state could not be read", checkStateAgain)
		e.check(ctx, checkSecrets, secrets)
		return nil
	}
	e.check(ctx, checkStateAgain, e.askStateAgain)
	e.check(ctx, checkStateKeys, e.addKeysToState)
	e.check(ctx, checkStateTerm, e.terminateState)
	if err := e.refuseExisting(); err != nil {
		return err
	}
	e.live(ctx)
	e.check(ctx, checkSecrets, secrets)
	return nil
}

// refuseExisting returns an error when the test would harm what somebody else made.
func (e *engine) refuseExisting() error {
	there := e.first.Status != protocol.Missing
	touched := e.ty.Absent || e.first.Status != protocol.Valid || e.o.Then != nil
	if !there || !touched || e.o.Replace {
		return nil
	}
	will := "change it"
	if e.ty.Absent {
		will = "change and remove it"
	}
	return diag.Errorf("There is something already",
		"The image says that what the config describes exists already (its state is %s), and the test would %s. Nothing was changed. "+
			"Use a config for something that does not exist; or, if it may go, run the test with -replace.", e.first.Status, will)
}

// check makes one check and reports whether those that need it can be made.
func (e *engine) check(ctx context.Context, name string, f func(context.Context) outcome) bool {
	if ctx.Err() != nil || e.failed != nil {
		return false
	}
	e.recorder.beginCheck()
	out := f(ctx)
	if ctx.Err() != nil {
		return false // an interrupt is no verdict on the image
	}
	if out.err != nil {
		e.failed = out.err
		return false
	}
	c := Check{Name: name, Title: titles[name], Verdict: out.verdict, Reason: e.o.Hide(out.reason), Fix: out.fix}
	if out.verdict == Fail {
		c.Exchanges = e.recorder.exchanges(e.o.Hide)
	}
	e.add(c)
	return out.verdict != Fail
}

func (e *engine) add(c Check) {
	e.report.Add(c)
	if e.o.Done != nil {
		e.o.Done(c)
	}
}

// skipAll skips the checks from one on that were not made.
func (e *engine) skipAll(reason, from string) {
	if e.failed != nil {
		return
	}
	for _, name := range order[slices.Index(order, from):] {
		done := slices.ContainsFunc(e.report.Checks, func(c Check) bool { return c.Name == name })
		if !done && name != checkSecrets && (name != checkMemory && name != checkUnsettled || e.ty.Memory) &&
			(name != checkUnknowns || e.ty.Unknowns) && (name != checkDiscover || e.ty.DiscoverAction != nil) {
			e.add(Check{Name: name, Title: titles[name], Verdict: Skip, Reason: reason})
		}
	}
}
