package conformance

import (
	"bytes"
	"context"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runner"
	"deployster/protocol"
)

// actInWorker removes the resource and makes it again, with the actions carried
// out by a worker. Fresh runs have done both before, and are asked what became
// of it: so what a worker does is held to what they did.
func (e *engine) actInWorker(ctx context.Context) outcome {
	if e.ty.Worker == nil {
		return skip("the image has no worker")
	}
	w := &workerRunner{Runner: e.tap, engine: e}
	e.tap.act = w
	defer func() { e.tap.act = nil }()
	out := e.remove(ctx, e.config(), e.valid.State)
	if out.verdict == Pass {
		out = e.make(ctx, e.input(e.config()))
	}
	switch {
	case out.verdict == Fail:
		return fail(fixWorker, "With its actions in a worker: %s", out.reason)
	case out.verdict == Pass && w.acted == 0:
		return skip("its actions run with an image or entrypoint of their own, where no worker carries them out")
	case out.verdict == Pass:
		return pass("%d actions", w.acted)
	}
	return out
}

// make makes the resource, and looks whether it is there.
func (e *engine) make(ctx context.Context, in protocol.StateInput) outcome {
	a, err := e.ask(ctx, in)
	if err == nil {
		if err = e.act(ctx, a, in); err == nil {
			a, err = e.ask(ctx, in)
		}
	}
	switch {
	case err != nil:
		return broken(fixActions, err)
	case a.Status != protocol.Valid:
		return fail(fixValid, "Expected VALID, got %s.%s", describe(a), because(a))
	}
	return pass("")
}

// workerRunner carries out actions in a worker, one in each.
type workerRunner struct {
	runner.Runner
	engine *engine
	acted  int
}

// Run implements runner.Runner. What the worker did not say as it should is told
// on stderr, with an exit code.
func (w *workerRunner) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	if s.Entrypoint != "" || s.Digest != w.engine.ty.Digest {
		return w.engine.tap.run(ctx, s)
	}
	w.acted++
	line, err := jsondoc.Encode(protocol.WorkerRequest{ID: 1, Args: s.Args, Stdin: bytes.TrimSpace(s.Stdin)})
	if err != nil {
		return runner.Result{}, err
	}
	res, err := w.engine.runWorker(ctx, append(line, '\n'))
	if err != nil {
		return res, err
	}
	answers, problem := readReplies(res.Stdout)
	switch a := answers[1]; {
	case problem != "":
	case res.ExitCode != 0:
		problem = "The worker did not end well."
	case a == nil || a.exit == nil:
		problem = "The worker never told its exit."
	default:
		return runner.Result{ExitCode: *a.exit, Stdout: []byte(a.stdout), Stderr: []byte(a.stderr), Duration: res.Duration}, nil
	}
	return runner.Result{ExitCode: 1, Stderr: []byte(problem), Duration: res.Duration}, nil
}
