package conformance

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/conformance/recording"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// The times in which a watch must end, and the number of watches for one worker.
const (
	endsWithStdin   = 5 * time.Second
	endsWithSIGTERM = runner.DefaultGrace
	manyWatches     = 300 // more than the requests of other kinds that a worker gets at a time
)

// spoken is a program with which the test exchanges lines.
type spoken struct {
	runner.Process
	lines chan []byte // lines of its stdout; closed at its end
	ended chan struct{}
	res   runner.Result
}

// launch starts a program. The caller must kill it.
func (w *watch) launch(ctx context.Context, s runner.Spec) (*spoken, error) {
	s.Stdin = nil
	proc, err := w.image.o.Launcher.Launch(ctx, s)
	if err != nil {
		return nil, err
	}
	p := &spoken{Process: proc, lines: make(chan []byte, 2*manyWatches), ended: make(chan struct{})}
	go func() {
		in := bufio.NewScanner(proc.Stdout())
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			select {
			case p.lines <- bytes.Clone(in.Bytes()):
			default: // far more lines than were requested
			}
		}
		_, _ = io.Copy(io.Discard, proc.Stdout())
		close(p.lines)
		p.res, _ = proc.Wait() // the caller checks how it ended
		close(p.ended)
	}()
	return p, nil
}

// say writes lines to the program's stdin, without waiting: the pipe may be full.
func (p *spoken) say(text []byte) {
	go func() { _, _ = p.Stdin().Write(text) }() // a program that does not read is killed
}

// nextLine returns the next line, or false if none arrives before the limit.
func (p *spoken) nextLine(ctx context.Context, limit <-chan time.Time) ([]byte, bool) {
	select {
	case line, more := <-p.lines:
		return line, more
	case <-limit:
	case <-ctx.Done():
	}
	return nil, false
}

// ends reports whether the program ends within d.
func (p *spoken) ends(d time.Duration) bool {
	select {
	case <-p.ended:
		return true
	case <-time.After(d):
		return false
	}
}

func (p *spoken) kill() {
	p.Kill()
	<-p.ended
}

const fixEnds = "Read stdin to its end and then exit, with all started processes: so none is left when deployster dies. A shell script " +
	"starts what watches with &, waits with cat >/dev/null, and ends it with kill."

// endsWhenAsked checks that a watch ends when its stdin ends, and on SIGTERM.
func (w *watch) endsWhenAsked(ctx context.Context) outcome {
	i := w.image
	if !w.started {
		return skip("it does not watch")
	}
	spec, err := i.client(i.o.Workspace).WatchSpec(ctx, i.target, i.ty, present(i.o.Config))
	if err != nil {
		return failWith(fixWatch, err)
	}
	for _, c := range []struct {
		ask   func(*spoken)
		limit time.Duration
		asked string
	}{
		{func(p *spoken) { _ = p.Stdin().Close() }, endsWithStdin, "the end of its stdin"},
		{func(p *spoken) { p.Terminate() }, endsWithSIGTERM, "SIGTERM"},
	} {
		p, err := w.launch(ctx, spec)
		if err != nil {
			return failWith(fixWatch, err)
		}
		p.say(spec.Stdin)
		_, began := p.nextLine(ctx, time.After(limitOf(i)))
		if began {
			c.ask(p)
		}
		ended := began && p.ends(c.limit)
		p.kill()
		switch {
		case !began:
			return fail(fixWatch, "It did not print its first line.")
		case !ended:
			return fail(fixEnds, "It did not end within %s after %s.", c.limit, c.asked)
		}
	}
	return pass("")
}

const fixWatchWorker = "A worker watches any number of resources concurrently: accept each with \"watch\" at once, without waiting for " +
	"others to end; print its lines as \"stdout\" of its id, its \"exit\" when it is cancelled, and end all when stdin ends."

// watchesMany checks that a worker watches many resources in one process.
func (w *watch) watchesMany(ctx context.Context) outcome {
	i := w.image
	if !w.started {
		return skip("it does not watch")
	}
	spec, err := i.client(i.o.Workspace).WatchSpec(ctx, i.target, i.ty, present(i.o.Config))
	switch {
	case err != nil:
		return failWith(fixWatch, err)
	case spec.Worker == nil:
		return skip("no worker watches")
	}
	args := spec.Args
	var requests bytes.Buffer
	for id := range manyWatches {
		line, err := jsondoc.Encode(protocol.WorkerRequest{ID: int64(id + 1), Args: args, Stdin: bytes.TrimSpace(spec.Stdin)})
		if err != nil {
			return fail(fixWatchWorker, "The request cannot be written: %s.", err)
		}
		requests.Write(append(line, '\n'))
	}
	spec.Digest, spec.Entrypoint, spec.Args = spec.Worker.Digest, spec.Worker.Entrypoint, spec.Worker.Args
	p, err := w.launch(ctx, spec)
	if err != nil {
		return failWith(fixWatchWorker, err)
	}
	defer p.kill()
	p.say(requests.Bytes())
	limit := time.After(limitOf(i))
	for live := map[int64]bool{}; len(live) < manyWatches; {
		r, problem := p.reply(ctx, limit)
		switch {
		case problem != "":
			return fail(fixWatchWorker, "Of %d requests, %d have printed their first line: %s", manyWatches, len(live), problem)
		case r.Exit != nil:
			return fail(fixWatchWorker, "Request %d ended with exit code %d without being cancelled.", r.ID, *r.Exit)
		case r.Stdout != "":
			live[r.ID] = true
		}
	}
	p.say([]byte("{\"id\":1,\"cancel\":true}\n"))
	limit = time.After(endsWithSIGTERM)
	for {
		r, problem := p.reply(ctx, limit)
		if problem != "" {
			return fail(fixWatchWorker, "A request was cancelled, and its exit was not reported within %s: %s", endsWithSIGTERM, problem)
		}
		if r.Exit != nil && r.ID == 1 {
			break
		}
	}
	_ = p.Stdin().Close() // if this fails, the worker does not end
	if !p.ends(endsWithStdin) || p.res.ExitCode != 0 {
		return fail(fixWatchWorker, "It did not end with exit code 0 within %s after the end of its stdin.", endsWithStdin)
	}
	return pass("%d concurrently", manyWatches)
}

// reply returns the next reply of a worker, or reports why there is none.
func (p *spoken) reply(ctx context.Context, limit <-chan time.Time) (r protocol.WorkerReply, problem string) {
	line, ok := p.nextLine(ctx, limit)
	if !ok {
		return r, "nothing more came."
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return r, fmt.Sprintf("a line on its stdout is not a reply (%s): %s", err, recording.Cut(string(line)))
	}
	return r, ""
}
