package conformance

import (
	"bytes"
	"context"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/conformance/recording"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
)

const fixWorker = "A worker reads one request a line, {\"id\":7,\"args\":[...],\"stdin\":{...}}, does what a fresh run with these " +
	"arguments would do, writes {\"id\":7,\"stdout\":\"...\"}, {\"id\":7,\"stderr\":\"...\"} and at last {\"id\":7,\"exit\":0}, and ends " +
	"with exit code 0 when stdin ends. docs/protocol.md, section 7."

// checkWorkerAnswers checks that a worker gives the same answers as fresh runs, to many
// concurrent requests, and ignores the cancellation of a request that it does not have.
func (e *engine) checkWorkerAnswers(ctx context.Context) outcome {
	if e.image.ty.Worker == nil {
		return skip("the image has no worker")
	}
	fresh, err := e.askFresh(ctx)
	if err != nil {
		return failWith(e.image.recorder.StreamHint(fixState), err)
	}
	var stdin bytes.Buffer
	for round := range 3 {
		for i, r := range fresh {
			id := int64(round*len(fresh) + i + 1)
			line, err := jsondoc.Encode(protocol.WorkerRequest{ID: id, Args: r.Spec.Args, Stdin: bytes.TrimSpace(r.Spec.Stdin)})
			if err != nil {
				return fail(fixWorker, "The request cannot be written: %s.", err)
			}
			stdin.Write(append(line, '\n'))
		}
	}
	stdin.WriteString("{\"id\":999,\"cancel\":true,\"grease\":{}}\n")
	r, err := e.image.runWorker(ctx, stdin.Bytes())
	switch {
	case err != nil && !isOfImage(err):
		return outcome{err: err}
	case err != nil:
		return fail(fixWorker, "The worker did not end by itself: %s.", err)
	case r.ExitCode != 0:
		return fail(fixWorker, "The worker ended with exit code %d.", r.ExitCode)
	}
	answers, problem := recording.ReadReplies(r.Stdout)
	if problem != "" {
		return fail(fixWorker, "%s", problem)
	}
	for id := int64(1); id <= int64(3*len(fresh)); id++ {
		want := fresh[int(id-1)%len(fresh)]
		if problem := answers[id].DiffersFrom(want); problem != "" {
			return fail(fixWorker, "Request %d (%s): %s", id, want.Spec.Name, problem)
		}
	}
	return pass("%d answers compared", 3*len(fresh))
}

// askFresh runs init and state in fresh runs, and returns the runs that a worker can
// carry out too: those of the type's own image with its own entrypoint.
func (e *engine) askFresh(ctx context.Context) ([]recording.Run, error) {
	if _, err := e.image.client(e.o.Workspace).Init(ctx, e.image.target); err != nil {
		return nil, err
	}
	inputs := []protocol.StateInput{present(e.o.lastConfig())}
	if e.image.ty.Absent {
		inputs = append(inputs, protocol.StateInput{Config: e.o.lastConfig(), Intent: protocol.Absent, LastState: e.valid.State})
	}
	for _, in := range inputs {
		if _, err := e.image.ask(ctx, in); err != nil {
			return nil, err
		}
	}
	runs := e.image.recorder.Current()
	if e.image.ty.StateAction.Image != "" || e.image.ty.StateAction.Entrypoint != "" {
		runs = runs[:1]
	}
	return runs, nil
}

func (i *image) runWorker(ctx context.Context, stdin []byte) (runner.Result, error) {
	digest := i.ty.Digest
	if image := i.ty.Worker.Image; image != "" {
		other, err := i.recorder.Resolve(ctx, image)
		if err != nil {
			return runner.Result{}, err
		}
		digest = other.Digest
	}
	limit := i.o.Timeout
	if limit == 0 {
		limit = typeclient.InitTimeout
	}
	return i.recorder.Run(ctx, runner.Spec{Name: i.o.Name + "/worker", Kind: runner.Query, Digest: digest, Reference: i.o.Image,
		Entrypoint: i.ty.Worker.Entrypoint,
		Args:       i.ty.Worker.Args, Stdin: stdin, Mounts: i.target.Mounts, Settings: i.target.Settings,
		Timeout: limit, MaxStdout: typeclient.MaxAnswer})
}
