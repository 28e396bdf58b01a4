package conformance

import (
	"bytes"
	"context"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/conformance/recording"
	"deployster/internal/runtime/conformance/report"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// checkWorkerActions destroys the resource and creates it again, with the actions in a
// worker. Fresh runs have done both before, and query the state afterwards.
func (e *engine) checkWorkerActions(ctx context.Context) outcome {
	if e.image.ty.Worker == nil {
		return skip("the image has no worker")
	}
	w := &workerRunner{Runner: e.image.recorder, image: e.image}
	e.image.recorder.Actions = w
	defer func() { e.image.recorder.Actions = nil }()
	out := e.remove(ctx, e.o.lastConfig(), e.valid.State)
	if out.verdict == report.Pass {
		out = e.image.makeResource(ctx, present(e.o.lastConfig()))
	}
	switch {
	case out.verdict == report.Fail:
		return fail(fixWorker, "With its actions in a worker: %s", out.reason)
	case out.verdict == report.Pass && w.count == 0:
		return skip("its actions run with an image or entrypoint of their own, where no worker carries them out")
	case out.verdict == report.Pass:
		return pass("%d actions", w.count)
	}
	return out
}

// makeResource creates the resource and checks its state.
func (i *image) makeResource(ctx context.Context, in protocol.StateInput) outcome {
	a, err := i.ask(ctx, in)
	if err == nil {
		if err = i.act(ctx, a, in); err == nil {
			a, err = i.ask(ctx, after(a, in))
		}
	}
	switch {
	case err != nil:
		return failWith(fixActions, err)
	case a.Status != protocol.Valid:
		return fail(fixValid, "Expected VALID, got %s.%s", describe(a), reasons(a))
	}
	return pass("")
}

// workerRunner runs each action in a worker of its own.
type workerRunner struct {
	runner.Runner
	image *image
	count int // how many actions were run
}

// Run implements runner.Runner. It reports invalid replies of the worker on stderr.
func (w *workerRunner) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	if s.Entrypoint != "" || s.Digest != w.image.ty.Digest {
		return w.image.recorder.Record(ctx, s)
	}
	w.count++
	line, err := jsondoc.Encode(protocol.WorkerRequest{ID: 1, Args: s.Args, Stdin: bytes.TrimSpace(s.Stdin)})
	if err != nil {
		return runner.Result{}, err
	}
	res, err := w.image.runWorker(ctx, append(line, '\n'))
	if err != nil {
		return res, err
	}
	answers, problem := recording.ReadReplies(res.Stdout)
	switch a := answers[1]; {
	case problem != "":
	case res.ExitCode != 0:
		problem = "The worker failed."
	case a == nil || a.Exit == nil:
		problem = "The worker never reported its exit."
	default:
		return runner.Result{ExitCode: *a.Exit, Stdout: []byte(a.Stdout), Stderr: []byte(a.Stderr), Duration: res.Duration}, nil
	}
	return runner.Result{ExitCode: 1, Stderr: []byte(problem), Duration: res.Duration}, nil
}
