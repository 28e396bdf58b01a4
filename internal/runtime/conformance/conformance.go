package conformance

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/conformance/report"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
)

// Options declare what to test, and how.
type Options struct {
	Runner    runner.Runner
	Launcher  runner.Launcher            // starts watch programs; nil = the watch is not tested
	Image     string                     // its name on this machine, or sha256:...
	Name      string                     // of the resource; "" = test
	Config    json.RawMessage            // of the resource: an object
	Then      json.RawMessage            // a second config for the resource; nil = none
	Inputs    map[string]json.RawMessage // of the operations to run, by their names; each is an object
	Plugs     map[string]Plug            // the plugs that the image may use, by the names in its answer to init
	Settings  runner.Settings            // how to run its containers
	Timeout   time.Duration              // of each invocation; 0 = deployster's default
	Version   string                     // of deployster
	Workspace string                     // the working directory
	Verbose   bool

	Replace bool // an object that exists already may be changed and removed
	Keep    bool // the resource is not removed at the end

	// About is called with the image's answer to init, before anything in the world is
	// changed. Done is called with each check when it has ended. nil = not called.
	About func(protocol.Type)
	Done  func(report.Check)
	// Hide removes secrets from the report; nil = there are none.
	Hide func(string) string
	// Log gets the lines that the image prints while it runs; nil = they are dropped.
	Log func(typeclient.Line)
}

// Plug is a file or directory of this host that the image may use.
type Plug struct {
	Path     string // absolute
	ReadOnly bool
}

// Run tests an image. The error reports why the test could not be carried out: an image or
// a plug is missing, an object exists already, or an interrupt. Faults of the image are
// in the report, which has the checks up to that point.
func Run(ctx context.Context, o Options) (report.Report, error) {
	if o.Name == "" {
		o.Name = "test"
	}
	if o.Hide == nil {
		o.Hide = func(s string) string { return s }
	}
	began := time.Now()
	found, err := o.Runner.Resolve(ctx, o.Image)
	if err != nil {
		return report.Report{}, err
	}
	e := &engine{o: o, image: newImage(o, found.Digest), report: report.Report{Format: 1, Image: found.Reference, Digest: found.Digest,
		Status: report.Pass}}
	err = e.all(ctx)
	if e.failed != nil {
		err = e.failed
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	e.report.LeftBehind = e.image.made
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
	o      Options
	image  *image
	report report.Report

	first      protocol.Answer // of the state, before the first action
	valid      protocol.Answer // of the state, when it was VALID
	remembered bool            // there was a memory when the state was VALID
	failed     error           // why the test cannot continue; not the image's fault
}

// all carries out the checks: first those that change nothing.
func (e *engine) all(ctx context.Context) error {
	if !e.check(ctx, report.CheckInit, e.image.askInit) {
		return nil
	}
	e.report.Label, e.report.Protocol = e.image.ty.Label, e.image.ty.Protocol
	var err error
	if e.image.target.Mounts, err = mounts(e.image.ty, e.o.Plugs); err != nil {
		return err
	}
	if err := known(e.image.ty, e.o.Inputs); err != nil {
		return err
	}
	if e.o.About != nil {
		e.o.About(e.image.ty)
	}
	e.check(ctx, report.CheckInitAgain, e.image.askInitAgain)
	e.check(ctx, report.CheckInitKeys, e.image.addKeysToInit)
	e.check(ctx, report.CheckInitTerm, e.image.terminateInit)
	fits := e.check(ctx, report.CheckConfig, e.image.checkConfig)
	e.check(ctx, report.CheckStrict, e.image.checkStrict)
	secrets := func(context.Context) outcome {
		return printsNoSecret(e.image, []json.RawMessage{e.o.Config, e.o.Then}, e.image.recorder.All())
	}
	if name, other := e.image.otherThanType(); other != nil {
		if fits {
			e.check(ctx, name, other)
		}
		e.check(ctx, report.CheckSecrets, secrets)
		return nil
	}
	e.check(ctx, report.CheckIdentity, func(context.Context) outcome { return declaresIdentity(e.image) })
	if !fits {
		e.skipAll("the config does not fit the schema", report.CheckState)
		return nil
	}
	if !e.check(ctx, report.CheckState, e.askFirst) {
		e.skipAll("the state could not be read", report.CheckStateAgain)
		e.check(ctx, report.CheckSecrets, secrets)
		return nil
	}
	e.check(ctx, report.CheckStateAgain, e.askStateAgain)
	e.check(ctx, report.CheckStateKeys, e.addKeysToState)
	e.check(ctx, report.CheckStateTerm, e.image.terminateState)
	if err := refuseExisting(e.first, e.image.ty, e.o); err != nil {
		return err
	}
	e.live(ctx)
	e.check(ctx, report.CheckSecrets, secrets)
	return nil
}

// refuseExisting returns an error if the test would change or remove an object that it did not make.
func refuseExisting(first protocol.Answer, ty protocol.Type, o Options) error {
	there := first.Status != protocol.Missing
	touched := ty.Absent || first.Status != protocol.Valid || o.Then != nil
	if !there || !touched || o.Replace {
		return nil
	}
	will := "change it"
	if ty.Absent {
		will = "change and remove it"
	}
	return diag.Errorf("The object exists already",
		"The image reports that the object of the config exists already (its state is %s), and the test would %s. Nothing was changed. "+
			"Use the config of an object that does not exist; or, if it may be destroyed, run the test with -replace.", first.Status, will)
}

// check carries out one check, and reports whether the checks that depend on it can be carried out.
func (e *engine) check(ctx context.Context, name string, f func(context.Context) outcome) bool {
	if ctx.Err() != nil || e.failed != nil {
		return false
	}
	e.image.recorder.BeginCheck()
	out := f(ctx)
	if ctx.Err() != nil {
		return false // an interrupt is not a verdict on the image
	}
	if out.err != nil {
		e.failed = out.err
		return false
	}
	hide := func(s string) string { return e.image.values.Hide(e.o.Hide(s)) }
	c := report.Check{Name: name, Title: report.Titles[name], Verdict: out.verdict, Reason: hide(out.reason), Fix: out.fix}
	if out.verdict == report.Fail {
		c.Exchanges = e.image.recorder.Exchanges(hide)
	}
	e.add(c)
	return out.verdict != report.Fail
}

func (e *engine) add(c report.Check) {
	e.report.Add(c)
	if e.o.Done != nil {
		e.o.Done(c)
	}
}

// skipAll skips all checks from one on that were not carried out.
func (e *engine) skipAll(reason, from string) {
	if e.failed != nil {
		return
	}
	for _, name := range report.Order[slices.Index(report.Order, from):] {
		done := slices.ContainsFunc(e.report.Checks, func(c report.Check) bool { return c.Name == name })
		if !done && name != report.CheckSecrets && (name != report.CheckMemory && name != report.CheckUnsettled || e.image.ty.Memory) &&
			(name != report.CheckUnknowns || e.image.ty.Unknowns) &&
			(name != report.CheckOperations || len(e.image.ty.Operations) > 0) &&
			(name != report.CheckDiscover || e.image.ty.DiscoverAction != nil) {
			e.add(report.Check{Name: name, Title: report.Titles[name], Verdict: report.Skip, Reason: reason})
		}
	}
}
