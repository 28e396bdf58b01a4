package app

import (
	"context"
	"errors"
	goruntime "runtime"

	"deployster/apply"
	"deployster/config"
	"deployster/internal/app/announce"
	"deployster/internal/app/images"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
	"deployster/internal/base/encryption"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/runtime/runner/worker"
	"deployster/internal/ui/events"
	"deployster/plan"
	"deployster/plan/explain"
	"deployster/plan/hidden"
	"deployster/state"
)

// Runtime runs images. containerd.Runtime is one.
type Runtime interface {
	runner.Runner
	runner.Launcher
	runner.Adopter
	images.Runtime
	runner.Inspector
	Artifacts() string           // the directory of the files of artifacts
	Withheld(path string) string // why containers must not get a path of this machine; "" = they may
	router.Images
	// Running reports whether an action still runs.
	Running(ctx context.Context, id string) (bool, error)
	Close() error
}

// UI shows a person the progress, and asks questions. It is called from many goroutines.
type UI interface {
	workspace.UI
	// Begin shows the progress of total resources, until end is called.
	Begin(verb string, total int) (end func())
	Planning(plan.Event)
	Applying(apply.Event)
	Line(typeclient.Line) // what an image prints
	Pulling(imagestore.Progress)
	Plan(*plan.Plan)
	Explain(*plan.Plan, []*explain.Explanation) // instead of Plan, with -explain
	// Report shows how an apply ended; recorded is nil if it did not end well.
	Report(p *plan.Plan, r *apply.Report, recorded *state.Snapshot)
	// Confirm asks a question. With whole only the word yes counts as an approval.
	Confirm(ctx context.Context, question string, whole bool) (bool, error)
	Question(context.Context, apply.Question) (apply.Answer, error)
}

// Records keeps what was sent to images and what they answered. runs.Recorder implements it.
type Records interface {
	Begin() // from now on things are changed
	Add(typeclient.Invocation)
	Report(content []byte)
}

// Options say where an engine works, with what, and to whom it reports.
type Options struct {
	Workspace workspace.Options // its UI is that of these options
	UI        UI                // nil = nothing is shown, and no question can be asked
	// Open connects to the container runtime, when it is first needed.
	Open func(context.Context) (Runtime, error)
	// Records starts the records of a run in a directory; nil = none are kept.
	Records func(dir string, keys *encryption.Keyring) Records
	// Dial connects to a host; nil = no host can be reached.
	Dial func(ctx context.Context, h runner.Host, as remote.Hello) (*remote.Client, error)
	// MaxArtifacts is the limit of the artifact store in bytes; 0 = the default.
	MaxArtifacts int64
	Abort        <-chan struct{} // closed to end running actions too; cancelling the context only keeps new ones from starting
}

// Engine does the work of one command.
type Engine struct {
	*workspace.Workspace
	ui      UI
	options Options

	runtime  Runtime
	pool     *worker.Pool   // runs images with the runtime, in workers where it can
	places   *router.Places // the pool here, and the hosts
	acts     remote.Hello   // the identity that hosts are greeted with
	over     HostOptions    // how the command treats hosts
	pins     map[string]router.Pin
	pulls    announce.Pulls // the pulls that events were sent of
	files    artifact.Store // nil = not opened
	lockFile *durable.Lock  // the lock of the workspace's lock file; nil = not locked
	released chan error     // gives the error of closing places and runtime; nil = they may still be needed
}

// New returns an engine. It must be closed.
func New(o Options) *Engine {
	if o.UI == nil {
		o.UI = nobody{}
	}
	if o.Records == nil {
		o.Records = func(string, *encryption.Keyring) Records { return unrecorded{} }
	}
	o.Workspace.UI = o.UI
	return &Engine{Workspace: workspace.New(o.Workspace), ui: o.UI, options: o}
}

// Runtime connects to the container runtime, if it is not connected yet.
func (e *Engine) Runtime(ctx context.Context) (Runtime, error) {
	if e.runtime != nil {
		return e.runtime, nil
	}
	if _, err := workspace.HostPatience(e.Options); err != nil {
		return nil, err
	}
	runtime, err := e.options.Open(ctx)
	if err != nil {
		return nil, err
	}
	e.runtime = runtime
	e.pool = worker.New(worker.Options{Runner: runtime, Launcher: runtime, Max: goruntime.NumCPU(), Keep: true, Private: e.Secrets.Private})
	e.places = newPlaces(e)
	return runtime, nil
}

// newPlaces returns this machine and the hosts as places, without connections to hosts.
func newPlaces(e *Engine) *router.Places {
	patience, _ := workspace.HostPatience(e.Options) // Runtime has read it
	return router.New(router.Options{Here: here{e.pool, e.runtime}, Images: e.runtime, Dial: dialer(e), Patience: patience, Most: connections})
}

// release closes the runtime in the background while other work goes on: no image is run
// after it. Close waits for its end.
func (e *Engine) release() {
	if e.released != nil {
		return
	}
	e.released = make(chan error, 1)
	closeArtifacts(e)
	go func() {
		var err error
		if e.pool != nil {
			e.places.Close()
			e.pool.Close()
		}
		if e.runtime != nil {
			err = e.runtime.Close()
		}
		e.released <- err
		close(e.released) // a second Close gets no error
	}()
}

// Close closes what was opened, and warns of errors of that. A second Close does nothing.
func (e *Engine) Close() {
	e.release()
	if e.lockFile != nil {
		_ = e.lockFile.Unlock() // the lock file is written
		e.lockFile = nil
	}
	if err := <-e.released; err != nil {
		e.Warn(diag.Warningf("Something was left in containerd",
			"Tidying up after this run failed: %s. The next run tidies up after this one by itself.", err))
	}
}

// client returns a client for images, which shows and records what they print. Values
// that the state marks as sensitive are hidden like those of the manifest.
func (e *Engine) client(prior state.Snapshot, pins map[string]string, r *images.Resolver) *typeclient.Client {
	e.learn(prior)
	return typeclient.New(typeclient.Options{Runner: e.places, Inspector: e.runtime, Version: e.Version, Verbose: e.Verbose, Workspace: e.Dir,
		Pins: pins, Obtain: r.Use, Log: e.Line, Secret: e.Secrets.Learn, Hide: e.Secrets.Hide, Record: e.records().Add,
		Inits: workspace.NewInitCache(e.Dir), Facts: e.places.Facts})
}

// learn takes note of the secrets in a state.
func (e *Engine) learn(s state.Snapshot) {
	for _, entry := range s.Resources {
		e.Secrets.Learn(hidden.OfEntry(entry))
	}
	for _, a := range s.Artifacts {
		e.Secrets.Learn(a.Secrets())
	}
	for _, p := range s.Pins {
		e.Secrets.Learn(p.Secrets())
	}
}

func (e *Engine) records() Records { return e.options.Records(e.Dir, e.Keys) }

// resolver returns what fetches images as the lock file pins them.
func (e *Engine) resolver(ctx context.Context, m *config.Manifest) (*images.Resolver, error) {
	runtime, err := e.Runtime(ctx)
	if err != nil {
		return nil, err
	}
	lock, err := images.ReadLock(e.Dir)
	if err != nil {
		return nil, err
	}
	return images.NewResolver(runtime, m, lock), nil
}

// planning tells people and programs what happens while a plan is made.
func (e *Engine) planning(event plan.Event) {
	e.Events(events.OfPlan(event))
	e.ui.Planning(event)
}

// applying tells people and programs what happens while a plan is applied.
func (e *Engine) applying(event apply.Event) {
	e.Events(events.OfApply(event))
	e.ui.Applying(event)
}

// Line tells people and programs what an image prints.
func (e *Engine) Line(l typeclient.Line) {
	e.Events(events.OfLine(l))
	e.ui.Line(l)
}

// nobody is a UI that shows nothing and answers no question.
type nobody struct{}

func (nobody) Diagnostics(diag.Diagnostics)                        {}
func (nobody) Printf(string, ...any)                               {}
func (nobody) Begin(string, int) func()                            { return func() {} }
func (nobody) Planning(plan.Event)                                 {}
func (nobody) Applying(apply.Event)                                {}
func (nobody) Line(typeclient.Line)                                {}
func (nobody) Pulling(imagestore.Progress)                         {}
func (nobody) Plan(*plan.Plan)                                     {}
func (nobody) Explain(*plan.Plan, []*explain.Explanation)          {}
func (nobody) Report(*plan.Plan, *apply.Report, *state.Snapshot)   {}
func (nobody) Confirm(context.Context, string, bool) (bool, error) { return false, nil }
func (nobody) AskVariable(context.Context, config.Missing) (string, error) {
	return "", errors.New("nobody can be asked")
}
func (nobody) Question(context.Context, apply.Question) (apply.Answer, error) { return apply.Quit, nil }

// hearing shows errors and warnings, and nothing else.
type hearing struct {
	nobody
	to UI
}

func (h hearing) Diagnostics(list diag.Diagnostics) { h.to.Diagnostics(list) }

// unrecorded keeps no records.
type unrecorded struct{}

func (unrecorded) Begin()                    {}
func (unrecorded) Add(typeclient.Invocation) {}
func (unrecorded) Report([]byte)             {}
