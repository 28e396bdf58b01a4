package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/conformance/recording"
	"deployster/internal/runtime/conformance/report"
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
	answers, problem := readReplies(r.Stdout)
	if problem != "" {
		return fail(fixWorker, "%s", problem)
	}
	for id := int64(1); id <= int64(3*len(fresh)); id++ {
		want := fresh[int(id-1)%len(fresh)]
		if problem := sameReply(answers[id], want); problem != "" {
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

// reply collects all replies of a worker to one request.
type reply struct {
	stdout, stderr string
	exit           *int
}

// readReplies parses the stdout of a worker. problem reports how it breaks the protocol.
func readReplies(stdout []byte) (answers map[int64]*reply, problem string) {
	answers = map[int64]*reply{}
	for line := range bytes.Lines(stdout) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var r protocol.WorkerReply
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Sprintf("A line on its stdout is not a reply (%s): %s", err, recording.Cut(string(line)))
		}
		a := answers[r.ID]
		if a == nil {
			a = &reply{}
			answers[r.ID] = a
		}
		if a.exit != nil {
			return nil, fmt.Sprintf("It printed output of request %d after its exit, or ended it twice.", r.ID)
		}
		a.stdout, a.stderr, a.exit = a.stdout+r.Stdout, a.stderr+r.Stderr, r.Exit
	}
	return answers, ""
}

// sameReply returns how a reply differs from a fresh run; "" = not at all.
func sameReply(got *reply, want recording.Run) string {
	switch {
	case got == nil:
		return "it was never answered."
	case got.exit == nil:
		return "its exit was never reported."
	case *got.exit != want.Result.ExitCode:
		return fmt.Sprintf("exit %d, and %d in a fresh run. Its stderr: %s", *got.exit, want.Result.ExitCode, recording.Cut(got.stderr))
	}
	if was, is := canonical(want.Result.Stdout), canonical([]byte(got.stdout)); was != is {
		return "the answer differs from that of a fresh run: " + difference(was, is)
	}
	return ""
}

const fixReuse = "Runs that share a container must not see files or processes of earlier runs: keep nothing outside of the plugs, or " +
	"omit \"reuse\". docs/protocol.md, section 7.1."

// checkReuseAnswers checks that runs in a shared container give the same answers as fresh
// runs. Where they do, and the image does not offer it, the reason proposes it.
func (e *engine) checkReuseAnswers(ctx context.Context) outcome {
	switch {
	case e.image.ty.StateAction.Image != "":
		return skip("the states are read by another image, %s, which has a container for each run", e.image.ty.StateAction.Image)
	case e.image.ty.Reuse:
		return e.compareReused(ctx)
	case e.image.ty.Worker != nil:
		return skip("the image has a worker")
	}
	switch out := e.compareReused(ctx); out.verdict {
	case report.Pass:
		return skip("the image does not offer it, and its answers in a shared container are the same: with \"reuse\": true plans of many " +
			"resources would be several times faster")
	case report.Fail:
		return skip("the image does not offer it")
	default:
		return out
	}
}

// compareReused runs queries of the type in a shared container, and compares each answer
// with that of a fresh run.
func (e *engine) compareReused(ctx context.Context) outcome {
	if _, err := e.askFresh(ctx); err != nil {
		return failWith(e.image.recorder.StreamHint(fixState), err)
	}
	fresh, compared := e.image.recorder.Current()[1:], 0 // init always has a container of its own
	for range 3 {
		for _, want := range fresh {
			spec := want.Spec
			spec.Reuse = true
			got, err := e.image.recorder.Record(ctx, spec)
			switch {
			case err != nil && !isOfImage(err):
				return outcome{err: err}
			case err != nil:
				return fail(fixReuse, "%s, in a container that others have used: %s.", spec.Name, err)
			}
			if problem := sameReply(&reply{stdout: string(got.Stdout), stderr: string(got.Stderr), exit: &got.ExitCode},
				want); problem != "" {
				return fail(fixReuse, "%s, in a container that others have used: %s", spec.Name, problem)
			}
			compared++
		}
	}
	return pass("%d answers compared", compared)
}
