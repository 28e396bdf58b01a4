package app

import (
	"context"
	"time"

	"deployster/internal/app/announce"
	"deployster/internal/app/command"
	"deployster/internal/app/machine"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
	"deployster/internal/base/encryption"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// Runtime runs images. containerd.Runtime is one.
type Runtime = machine.Runtime

// UI shows a person the progress, and shows questions.
type UI = command.UI

// Records keeps what was sent to images and what they answered.
type Records = command.Records

// Options declare where an engine works, with what, and to whom it reports.
type Options struct {
	Workspace workspace.Options // its UI is that of these options
	UI        UI                // nil = nothing is shown, and no question can be shown
	// Open connects to the container runtime, when it is first needed.
	Open func(context.Context) (Runtime, error)
	// Bundled are the images for which Open is not called before one of them runs here; nil = none. Artifacts is the directory
	// of the files of artifacts of what it opens.
	Bundled   machine.Bundled
	Artifacts string
	// NotHere returns the error about what would run on this machine; nil = images can run here.
	NotHere func() error
	// Records starts the records of a run in a directory; nil = none are kept.
	Records func(dir string, keys *encryption.Keyring) Records
	// Dial connects to a host; nil = no host can be reached.
	Dial func(ctx context.Context, h runner.Host, as remote.Hello) (*remote.Client, error)
	// MayHaveMachine returns why an image may not have the whole machine; nil = all may.
	MayHaveMachine func(reference string) error
	// MaxArtifacts is the limit of the artifact store in bytes; 0 = the default.
	MaxArtifacts int64
	Abort        <-chan struct{} // closed to end running actions too; cancelling the context only keeps new ones from starting
}

// Engine does the work of one command.
type Engine struct {
	Workspace *workspace.Workspace
	command   command.Command
	options   machine.Options
	machine   *machine.Machine // nil = not connected to the container runtime
	pulls     announce.Pulls   // the pulls that events were sent of
	lockFile  *durable.Lock    // the lock of the workspace's lock file; nil = not locked
	released  chan error       // gives the error of closing the machine; nil = it may still be needed
}

// New returns an engine. It must be closed.
func New(o Options) *Engine {
	if o.UI == nil {
		o.UI = command.Nobody{}
	}
	if o.Records == nil {
		o.Records = func(string, *encryption.Keyring) Records { return command.Unrecorded{} }
	}
	o.Workspace.UI = o.UI
	e := &Engine{}
	o.Workspace.OpenImages = func(ctx context.Context) (workspace.ModuleImages, error) { return e.Runtime(ctx) }
	w := workspace.New(o.Workspace)
	*e = Engine{Workspace: w, command: command.Command{Work: w, UI: o.UI, Open: o.Records, Abort: o.Abort},
		options: machine.Options{Open: o.Open, Bundled: o.Bundled, Artifacts: o.Artifacts, NotHere: o.NotHere, Dial: o.Dial,
			MayHaveMachine: o.MayHaveMachine, MaxArtifacts: o.MaxArtifacts}}
	return e
}

// Command returns what all stages of the command share.
func (e *Engine) Command() command.Command { return e.command }

// Machine connects to the container runtime, if it is not connected yet. The engine closes it.
func (e *Engine) Machine(ctx context.Context) (_ *machine.Machine, err error) {
	if e.machine == nil {
		e.machine, err = machine.Open(ctx, e.Workspace, e.options)
	}
	return e.machine, err
}

// Runtime returns the container runtime of Machine, opened.
func (e *Engine) Runtime(ctx context.Context) (Runtime, error) {
	m, err := e.Machine(ctx)
	if err != nil {
		return nil, err
	}
	return m.Opened(ctx)
}

// release closes the machine in the background, after the connections of a stage: no image is run
// after it. Close waits for its end.
func (e *Engine) release(first func()) {
	if e.released != nil {
		return
	}
	e.released = make(chan error, 1)
	if e.machine != nil {
		e.machine.Files.Close(e.command)
	}
	go func() {
		var err error
		if first(); e.machine != nil {
			err = e.machine.Close()
		}
		e.released <- err
		close(e.released) // a second Close gets no error
	}()
}

// Close closes what was opened, and warns of errors of that. A second Close does nothing.
func (e *Engine) Close() {
	e.release(func() {})
	if e.lockFile != nil {
		_ = e.lockFile.Unlock() // the lock file is written
		e.lockFile = nil
	}
	if err := <-e.released; err != nil {
		e.Workspace.Warn(diag.Warningf("Something was left in containerd",
			"Cleaning up after this run failed: %s. The next run tries it again.", err))
	}
}

// HoldLockFile locks the lock file, from before it is read until the engine is closed.
func (e *Engine) HoldLockFile(ctx context.Context, command string) (err error) {
	if e.lockFile == nil {
		e.lockFile, err = workspace.HoldLockFile(ctx, e.Workspace.Dir, command, e.Workspace.LockTimeout, e.Workspace.Note)
	}
	return err
}

// Pulling reports the progress of image pulls.
func (e *Engine) Pulling(p imagestore.Progress) {
	if event, ok := e.pulls.Event(p, time.Now()); ok {
		e.Workspace.Events(event)
	}
	e.command.UI.Pulling(p)
}

// MayHaveMachine returns why an image may not have the whole machine.
func (e *Engine) MayHaveMachine(image string) error {
	if e.options.MayHaveMachine == nil {
		return nil
	}
	return e.options.MayHaveMachine(image)
}
