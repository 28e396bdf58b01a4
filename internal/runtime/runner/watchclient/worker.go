package watchclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"deployster/internal/base/jsondoc"
	"deployster/internal/base/parallel"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
)

// errClosing reports that a process accepts no more requests, and did not get this one.
var errClosing = errors.New("the process is ending")

// keepStderr is how many bytes of the log of one resource are kept.
const keepStderr = 4 << 10

// worker is a process that watches many resources.
type worker struct {
	began time.Time // set before it is started
	noted bool      // its group has recorded its end; guarded by the group's lock

	*program
	c *Client

	mu      sync.Mutex
	next    int64
	open    map[int64]*request
	users   int  // calls of watch in progress
	closing bool // it accepts no more requests
}

// request is the watch of one resource by a worker.
type request struct {
	*eventReader
	of     subject
	id     int64
	log    *runner.Log
	stderr func(text string) // shows a piece of its log; nil = not shown
	flush  func()            // shows the rest of its log
	exit   int
	exited chan struct{} // closed when exit is set
	broken chan error    // receives the error of an invalid event, once
	bad    bool          // an event was invalid: further ones are ignored
}

// takes reports whether the worker accepts requests.
func (w *worker) takes() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.gone:
		return false
	default:
		return !w.closing
	}
}

func (w *worker) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closing = true
}

// begin requests the watch of one resource. If it succeeds, wait must follow.
func (w *worker) begin(ctx context.Context, r *Request, report func(Event)) (*request, error) {
	q := &request{of: r.subject(), eventReader: &eventReader{c: w.c, report: report}, log: runner.NewLog(keepStderr),
		exited: make(chan struct{}), broken: make(chan error, 1), flush: func() {}}
	if w.c.o.Log != nil {
		to, flush := typeclient.Lines(r.Address, typeclient.StepWatch, typeclient.Stderr, w.c.o.Log)
		q.flush = flush
		q.stderr = func(text string) { _, _ = to.Write([]byte(text)) } // never fails
	}
	if !w.add(q) {
		return nil, errClosing
	}
	var line []byte
	var err error
	parallel.Apart(func() {
		line, err = jsondoc.Encode(protocol.WorkerRequest{ID: q.id, Args: r.Spec.Args, Stdin: bytes.TrimSpace(r.Spec.Stdin)})
	})
	if err != nil {
		w.leave(q)
		return nil, fmt.Errorf("the stdin of %s is not valid JSON: %w", r.Spec.Name, err)
	}
	w.meter.expect()
	asked := time.Now()
	if w.send(ctx, append(line, '\n')) {
		return q, nil
	}
	defer w.leave(q)
	if ctx.Err() == nil {
		return nil, w.c.failure(q.of, w.ended())
	}
	if time.Since(asked) >= w.grace { // otherwise the watch has not begun, and so need not be cancelled
		w.fail(errStuck)
		<-w.gone
	}
	return nil, context.Cause(ctx)
}

// wait returns when a watch has ended, with the reason.
func (w *worker) wait(ctx context.Context, q *request) (err error) {
	defer w.leave(q)
	select {
	case <-q.exited:
		return w.c.failure(q.of, &endError{runner.Result{ExitCode: q.exit, Stderr: q.log.Bytes()}, nil})
	case <-w.gone:
		return w.c.failure(q.of, w.ended())
	case err = <-q.broken:
		err = w.c.failure(q.of, err)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	w.cancel(q)
	return err
}

// cancel cancels one request, and kills the worker if the request does not end in time.
func (w *worker) cancel(q *request) {
	go w.send(context.Background(), fmt.Appendf(nil, "{\"id\":%d,\"cancel\":true}\n", q.id))
	late := time.NewTimer(w.grace)
	defer late.Stop()
	select {
	case <-q.exited:
	case <-w.gone:
	case <-late.C:
		w.fail(errEndless)
		<-w.gone
	}
}

// add gives a request its id, and reports whether the worker accepts it.
func (w *worker) add(q *request) (ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closing {
		return false
	}
	w.users++
	w.next++
	q.id, w.open[w.next] = w.next, q
	return true
}

// leave removes a request. The last one to leave stops the worker.
func (w *worker) leave(q *request) {
	defer q.flush()
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, q.id)
	if w.users--; w.users == 0 {
		w.closing = true
		go w.stop()
	}
}

func (w *worker) get(id int64) *request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.open[id]
}

// line implements listener: it processes one reply.
func (w *worker) line(line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	var r protocol.WorkerReply
	if err := jsondoc.Read(line, &r); err != nil {
		return newBadLine(line, fmt.Errorf("a line on its stdout is not a reply (%w)", err))
	}
	q := w.get(r.ID)
	if q == nil {
		return newBadLine(line, fmt.Errorf("it answered the request %d, which is not open", r.ID))
	}
	if r.Stderr != "" {
		_, _ = q.log.Write([]byte(r.Stderr)) // never fails
		if q.stderr != nil {
			q.stderr(r.Stderr)
		}
	}
	if r.Stdout != "" && !q.bad {
		if err := q.piece(r.Stdout); err != nil {
			q.bad = true
			q.broken <- err
		}
	}
	if r.Exit != nil {
		w.mu.Lock()
		delete(w.open, r.ID)
		w.mu.Unlock()
		q.exit = *r.Exit
		close(q.exited)
	}
	return nil
}

// skipped implements listener: it processes only replies that may end a request.
func (w *worker) skipped(line []byte) error {
	if bytes.Contains(line, []byte(`"exit"`)) {
		return w.line(line)
	}
	return nil
}

// changed implements listener.
func (w *worker) changed() {
	w.mu.Lock()
	all := make([]*request, 0, len(w.open))
	for _, q := range w.open {
		all = append(all, q)
	}
	w.mu.Unlock()
	for _, q := range all {
		q.changed()
	}
}
