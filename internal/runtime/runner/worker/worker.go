package worker

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// worker is a program that serves requests. One goroutine reads its stdout, and another
// writes its stdin.
type worker struct {
	proc runner.Process
	o    Options

	outgoing   chan []byte    // lines for its stdin
	stdoutRead chan struct{}  // closed when its stdout was read to the end
	ended      chan struct{}  // closed when it has ended; result and endErr are set before
	removed    chan struct{}  // closed when its container is removed
	actions    sync.WaitGroup // the actions that are not settled

	lastLoad int // guarded by the Pool's lock

	mu            sync.Mutex
	next          int64 // the number of the last request
	open          map[int64]*request
	speed         speed
	wentOn        time.Time       // when a request last began or ended
	unsettled     map[int64]int64 // by number of an action's request: offset in stdout of its first reply, or -1
	draining      bool            // it gets no more requests
	protocolError string          // how its stdout broke the protocol
	bytesRead     int64           // bytes of its stdout that were read
	tainted       bool            // a request failed, or it has seen private text: it must end with the command

	outcomeOnce sync.Once
	result      runner.Result
	endErr      error // the error of the invocations that were open
}

func launch(ctx context.Context, l runner.Launcher, s runner.Spec, o Options) (*worker, error) {
	w := &worker{o: o, outgoing: make(chan []byte), stdoutRead: make(chan struct{}),
		ended: make(chan struct{}), removed: make(chan struct{}), open: map[int64]*request{}, unsettled: map[int64]int64{}}
	// The worker's traces stay until the end of every action is recorded: a later command can adopt the others.
	s.Ended = func(res runner.Result, err error) error {
		<-w.stdoutRead
		w.setOutcome(res, err)
		w.actions.Wait()
		return nil
	}
	proc, err := l.Launch(ctx, s)
	if err != nil {
		return nil, err
	}
	w.proc, w.next = proc, proc.Before()
	go w.write()
	go w.read()
	return w, nil
}

// write writes lines to stdin, and flushes when no more lines are waiting.
func (w *worker) write() {
	out := bufio.NewWriterSize(w.proc.Stdin(), 64<<10)
	for {
		var line []byte
		select {
		case line = <-w.outgoing:
		case <-w.ended:
			return
		}
		for more := true; more; {
			if _, err := out.Write(line); err != nil {
				w.writeFailed()
				return
			}
			line, more = w.nextLine()
		}
		if out.Flush() != nil {
			w.writeFailed()
			return
		}
	}
}

// nextLine returns a line for stdin, if one is waiting.
func (w *worker) nextLine() ([]byte, bool) {
	for _, last := range []bool{false, true} {
		select {
		case line := <-w.outgoing:
			return line, true
		default:
		}
		if !last {
			runtime.Gosched() // imminent requests are written together with this one
		}
	}
	return nil, false
}

// writeFailed ends a worker whose stdin cannot be written. Mostly the worker is ending by itself.
func (w *worker) writeFailed() {
	w.mu.Lock()
	w.draining = true
	w.mu.Unlock()
	w.end()
}

// read handles the replies on stdout until its end.
func (w *worker) read() {
	in := bufio.NewReaderSize(w.proc.Stdout(), 64<<10)
	released := int64(0)
	for at := int64(0); ; {
		line, err := runner.ReadLine(in, maxReply)
		if err == nil {
			err = w.handleReply(line, at)
		}
		if at += int64(len(line)); at-released >= releaseEvery {
			released = at
			w.release(at)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			w.mu.Lock()
			w.draining, w.protocolError = true, err.Error()
			w.mu.Unlock()
			w.proc.Kill()
			_, _ = io.Copy(io.Discard, in) // its stdout must be read to the end
			break
		}
	}
	close(w.stdoutRead)
	res, err := w.proc.Wait()
	w.setOutcome(res, err) // Spec.Ended is not called when the outcome is unknown
	close(w.removed)
}

// release frees the recorded stdout that was read, except the replies to actions that
// are not settled: it keeps all replies of an action that has ended, and the last
// keepStdout bytes of the output while an action runs.
func (w *worker) release(at int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, from := range w.unsettled {
		if w.open[id] != nil {
			from = max(from, at-keepStdout)
		}
		at = min(at, from)
	}
	w.proc.Release(at)
}

const (
	releaseEvery = 1 << 20  // bytes of stdout
	keepStdout   = 16 << 20 // bytes of stdout
)

// handleReply handles one line of stdout. It returns an error if the line breaks the protocol.
func (w *worker) handleReply(line []byte, at int64) error {
	blank := len(bytes.TrimSpace(line)) == 0
	var r protocol.WorkerReply
	if !blank {
		var err error
		if r, err = reply(line); err != nil {
			return fmt.Errorf("a line on its stdout is not a reply (%w): %s", err, w.cut(line))
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bytesRead = at + int64(len(line)); blank {
		return nil
	}
	q := w.open[r.ID]
	if q == nil {
		return fmt.Errorf("it answered the request %d, which is not open: %s", r.ID, w.cut(line))
	}
	if !q.abandoned { // otherwise its caller has the outputs already
		q.add(r)
	}
	q.begun = q.begun || r.Begun
	if r.Waits != nil {
		q.waits, q.began = *r.Waits, time.Now()
		if !q.waits {
			w.wentOn = q.began
		}
	}
	if from, action := w.unsettled[r.ID]; action && from < 0 {
		w.unsettled[r.ID] = at
	}
	if r.Exit != nil {
		if !q.abandoned {
			q.exit = *r.Exit
		}
		w.wentOn = time.Now()
		w.speed.done++
		w.remove(r.ID, q)
		close(q.done)
	}
	return nil
}

// setOutcome ends all open requests with the outcome of the program.
func (w *worker) setOutcome(res runner.Result, err error) {
	w.outcomeOnce.Do(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.draining, w.result = true, res
		switch {
		case diag.Is[*runner.UnknownError](err):
			w.endErr = err
		case w.protocolError != "":
			w.endErr = &runner.WorkerError{Reason: "The worker was ended, because " + w.protocolError}
		case err != nil:
			w.endErr = &runner.WorkerError{Reason: "The worker was lost: " + err.Error()}
		case res.OOM:
			w.endErr = &runner.WorkerError{Reason: "The worker ran out of memory during this run"}
		default:
			why := fmt.Sprintf("The worker ended with exit code %d during this run", res.ExitCode)
			w.endErr = &runner.WorkerError{Reason: why, Well: res.ExitCode == 0}
		}
		close(w.ended)
	})
}

// load returns how many requests are open, and whether the worker accepts more.
func (w *worker) load() (open int, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.open), !w.draining
}

// add adds a request and returns its number.
func (w *worker) add(q *request) (id int64, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.draining {
		return 0, false
	}
	if len(w.open) == 0 {
		w.speed = speed{since: q.since}
	}
	w.next++
	w.open[w.next] = q
	if q.adoptable() {
		w.actions.Add(1)
		w.unsettled[w.next] = -1
	}
	return w.next, true
}

// actionEnded settles an action whose end is recorded, or that the worker never got. If
// its end is not recorded, its traces stay.
func (w *worker) actionEnded(id int64, q *request, recorded bool) error {
	if !q.adoptable() {
		return nil
	}
	defer w.actions.Done()
	if !recorded {
		return nil
	}
	w.mu.Lock()
	delete(w.unsettled, id)
	w.mu.Unlock()
	return w.proc.Settled(id)
}

// remove removes a request. The caller must hold the lock.
func (w *worker) remove(id int64, q *request) {
	if w.open[id] == q {
		delete(w.open, id)
	}
	w.endIfUnused()
}

// abandon stops waiting for a request that did not end when it was cancelled: the
// worker is ended as soon as it has no other requests.
func (w *worker) abandon(q *request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	q.abandoned, w.draining = true, true
	w.endIfUnused()
}

// endIfUnused ends a draining worker whose open requests are all abandoned. The caller
// must hold the lock.
func (w *worker) endIfUnused() {
	if !w.draining {
		return
	}
	for _, q := range w.open {
		if !q.abandoned {
			return
		}
	}
	if len(w.open) == 0 {
		go w.end()
	} else {
		go w.proc.Kill()
	}
}

// keep hands over a worker that is not tainted and has no requests, to be used by a
// later command. It reports whether it did.
func (w *worker) keep() bool {
	w.mu.Lock()
	if w.draining || w.tainted || len(w.open) > 0 || len(w.unsettled) > 0 {
		w.mu.Unlock()
		return false
	}
	w.draining = true
	last, read := w.next, w.bytesRead
	w.mu.Unlock()
	if !w.proc.Keep(last, read) {
		return false
	}
	<-w.removed
	return true
}

// markTainted marks the worker, so that it ends with the command.
func (w *worker) markTainted() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tainted = true
}

// end closes stdin, kills the worker if it does not end within the grace period, and
// returns when its container is removed.
func (w *worker) end() {
	w.mu.Lock()
	w.draining = true
	w.mu.Unlock()
	_ = w.proc.Stdin().Close() // if this fails, the worker is killed
	select {
	case <-w.ended:
	case <-time.After(w.o.Grace):
		w.proc.Kill()
	}
	<-w.removed
}
