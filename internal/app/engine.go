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
	"deployster/internal/artifact"
	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
	"deployster/internal/base/encryption"
	"deployster/internal/far"
	"deployster/internal/places"
	"deployster/internal/runner"
	"deployster/internal/runner/imagestore"
	"deployster/internal/runner/typeclient"
	"deployster/internal/runner/worker"
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
	Artifacts() string           // the directory in which the files of artifacts are kept
	Withheld(path string) string // why no container is given something of this machine; "" = it may be
	places.Images
	// Running reports whether an action still runs.
	Running(ctx context.Context, id string) (bool, error)
	Close() error
}

// UI shows a person what goes on, and asks. It is called from many goroutines.
type UI interface {
	workspace.UI
	// Begin shows the progress of so many resources, until end is called.
	Begin(verb string, total int) (end func())
	Planning(plan.Event)
	Applying(apply.Event)
	Line(typeclient.Line) // what an image prints
	Pulling(imagestore.Progress)
	Plan(*plan.Plan)
	Explain(*plan.Plan, []*explain.Explanation) // in the place of Plan, where that was asked for
	// Report shows how an apply ended; recorded is nil if it did not end well.
	Report(p *plan.Plan, r *apply.Report, recorded *state.Snapshot)
	// Confirm asks a question. Where whole is set only the word yes is a yes.
	Confirm(ctx context.Context, question string, whole bool) (bool, error)
	Question(context.Context, apply.Question) (apply.Answer, error)
}

// Records keeps what images were sent and what they answered. runs.Recorder does.
type Records interface {
	Begin() // something is changed from now on
	Add(typeclient.Invocation)
	Report(content []byte)
}

// Options say where an engine works, with what, and who looks on.
type Options struct {
	Workspace workspace.Options // its UI is that of these options
	UI        UI                // nil = nobody looks on, and nobody can be asked
	// Open connects to what runs images, when that is needed for the first time.
	Open func(context.Context) (Runtime, error)
	// Records begins to keep records of the work in a directory; nil = none are kept.
	Records func(dir string, keys *encryption.Keyring) Records
	// Dial reaches a host; nil = none can be reached.
	Dial func(ctx context.Context, h runner.Host, as far.Hello) (*far.Client, error)
	// MaxArtifacts is how many bytes of files of artifacts are kept; 0 = as many as usual.
	MaxArtifacts int64
	Abort        <-chan struct{} // closed when what runs is to be ended too; the context only keeps new things from starting
}

// Engine does the work of one command.
type Engine struct {
	*workspace.Workspace
	ui      UI
	options Options

	runtime  Runtime
	pool     *worker.Pool   // runs images with the runtime, in workers where it can
	places   *places.Places // the pool, and hosts
	acts     far.Hello      // as whom hosts are greeted
	over     HostOptions    // how the command goes over hosts
	pins     map[string]places.Pin
	pulls    announce.Pulls // what programs know of them
	files    artifact.Store // nil = not opened
	lockFile *durable.Lock  // keeps others from the lock file of the workspace; nil = nobody need be kept
	released chan error     // gives how both were given up; nil = they may be needed
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

// Runtime connects to what runs images, if it is not connected yet.
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

// newPlaces returns this machine and hosts, without connections to them.
func newPlaces(e *Engine) *places.Places {
	patience, _ := workspace.HostPatience(e.Options) // Runtime has read it
	return places.New(places.Options{Here: here{e.pool, e.runtime}, Images: e.runtime, Dial: dialer(e), Patience: patience, Most: connections})
}

// release gives up what runs images, while other things are still done: nothing
// is asked any more. Close waits for its end.
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
		close(e.released) // who closes the engine once more finds nothing to tell
	}()
}

// Close ends what was opened, and warns of what went wrong with that. Closing once more does nothing.
func (e *Engine) Close() {
	e.release()
	if e.lockFile != nil {
		_ = e.lockFile.Unlock() // what it kept is written
		e.lockFile = nil
	}
	if err := <-e.released; err != nil {
		e.Warn(diag.Warningf("Something was left in containerd",
			"Tidying up after this run failed: %s. The next run tidies up after this one by itself.", err))
	}
}

// client returns what speaks to images, tells what they log, and records what was
// said. What the state holds as sensitive is hidden as what the manifest does.
func (e *Engine) client(prior state.Snapshot, pins map[string]string, r *images.Resolver) *typeclient.Client {
	e.learn(prior)
	return typeclient.New(typeclient.Options{Runner: e.places, Inspector: e.runtime, Version: e.Version, Verbose: e.Verbose, Workspace: e.Dir,
		Pins: pins, Obtain: r.Use, Log: e.Line, Secret: e.Secrets.Learn, Record: e.records().Add, Inits: workspace.NewInitCache(e.Dir),
		Facts: e.places.Facts})
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

// resolver returns what brings in images as the lock file wants them.
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

// applying tells them what happens while a plan is carried out.
func (e *Engine) applying(event apply.Event) {
	e.Events(events.OfApply(event))
	e.ui.Applying(event)
}

// Line tells them what an image prints.
func (e *Engine) Line(l typeclient.Line) {
	e.Events(events.OfLine(l))
	e.ui.Line(l)
}

// nobody looks on.
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

// hearing is told errors and warnings, and nothing else.
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
