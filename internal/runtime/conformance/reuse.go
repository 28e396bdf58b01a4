package conformance

import (
	"context"

	"deployster/internal/runtime/conformance/recording"
	"deployster/internal/runtime/conformance/report"
	"deployster/internal/runtime/runner"
)

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
			again := &recording.Reply{Stdout: string(got.Stdout), Stderr: string(got.Stderr), Exit: &got.ExitCode}
			if problem := again.DiffersFrom(want); problem != "" {
				return fail(fixReuse, "%s, in a container that others have used: %s", spec.Name, problem)
			}
			compared++
		}
	}
	return pass("%d answers compared", compared)
}

const fixReuseActions = "An action that shares a container must not see files of earlier runs there: keep nothing outside of the " +
	"plugs, or omit \"reuse_actions\". docs/protocol.md, section 7.1."

// checkReuseActions destroys the resource and creates it again, twice, with the actions in a container that they
// share. Fresh runs query the state. Where it succeeds, and the image does not offer it, the reason proposes it.
func (e *engine) checkReuseActions(ctx context.Context) outcome {
	ty := e.image.ty
	switch {
	case !ty.Reuse && ty.Worker != nil:
		return skip("the image has a worker")
	case !ty.ReuseActions && e.image.recorder.WroteEver():
		return skip("the image does not offer it, and its actions leave files in their containers")
	}
	w := &sharedRunner{image: e.image}
	e.image.recorder.Actions = w
	defer func() { e.image.recorder.Actions = nil }()
	out := pass("")
	for range 2 {
		if out.verdict == report.Pass {
			out = e.remove(ctx, e.o.lastConfig(), nil)
		}
		if out.verdict == report.Pass {
			out = e.image.makeResource(ctx, present(e.o.lastConfig()))
		}
	}
	switch {
	case out.verdict == report.Fail && ty.ReuseActions:
		return fail(fixReuseActions, "With its actions in a container that others have used: %s", out.reason)
	case out.verdict == report.Fail:
		return skip("the image does not offer it")
	case out.verdict == report.Pass && w.count == 0:
		return skip("its actions run with an image of their own, which has a container for each run")
	case out.verdict == report.Pass && !ty.ReuseActions:
		return skip("the image does not offer it, and its actions in a shared container succeed: with \"reuse\": true and " +
			"\"reuse_actions\": true an apply of many resources would be several times faster")
	case out.verdict == report.Pass:
		return pass("%d actions", w.count)
	}
	return out
}

// sharedRunner runs the actions of the image in a container that they share.
type sharedRunner struct {
	runner.Runner
	image *image
	count int // how many actions were run
}

// Run implements runner.Runner.
func (w *sharedRunner) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	if s.Digest == w.image.ty.Digest {
		w.count++
		s.Reuse, s.ReuseActions = true, true
	}
	return w.image.recorder.Record(ctx, s)
}
