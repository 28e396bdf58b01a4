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

	"deployster/internal/runner"
	"deployster/protocol"
)

// worker is one program that serves. What it says is read by one goroutine,
// and what it is told is written by another.
type worker struct {
	proc  runner.Process
	grace time.Duration
	lines chan []byte   // to be written
	dead  chan struct{} // closed when it has ended; outcome is set then
	gone  chan struct{} // closed when nothing of it is left

	lastLoad int // of the Pool

	private func(text string) bool // see Options

	heard   chan struct{}  // closed when all is heard that it said
	actions sync.WaitGroup // that are not settled

	mu      sync.Mutex
	next    int64
	open    map[int64]*request
	speed   speed
	held    map[int64]int64 // of each action that is not settled: where what was said about it begins in its stdout
	doomed  bool            // takes nothing more
	fault   string          // what it said wrong
	heardTo int64           // how much of its stdout was heard, in bytes
	odd     bool            // it was not always well, or knows what is private: it must not outlive the command

	concluded sync.Once
	result    runner.Result // after dead
	outcome   error         // what open invocations get; after dead
}

func launch(ctx context.Context, l runner.Launcher, s runner.Spec, grace time.Duration, private func(string) bool) (*worker, error) {
	w := &worker{grace: grace, private: private, lines: make(chan []byte), dead: make(chan struct{}), gone: make(chan struct{}), heard: make(chan struct{}), open: map[int64]*request{}, held: map[int64]int64{}}
	// Until all is taken down that was asked of it, others can find it out.
	s.Ended = func(res runner.Result, err error) error {
		<-w.heard
		w.conclude(res, err)
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

// write tells the worker what comes, many lines at once when many are waiting.
func (w *worker) write() {
	out := bufio.NewWriterSize(w.proc.Stdin(), 64<<10)
	for {
		var line []byte
		select {
		case line = <-w.lines:
		case <-w.dead:
			return
		}
		for more := true; more; {
			if _, err := out.Write(line); err != nil {
				w.deaf()
				return
			}
			line, more = w.waiting()
		}
		if out.Flush() != nil {
			w.deaf()
			return
		}
	}
}

// waiting gives a line that is to be told, if there is one.
func (w *worker) waiting() ([]byte, bool) {
	for _, last := range []bool{false, true} {
		select {
		case line := <-w.lines:
			return line, true
		default:
		}
		if !last {
			runtime.Gosched() // whoever is about to ask comes along
		}
	}
	return nil, false
}

// deaf is for a worker that takes nothing more. Mostly it is just ending.
func (w *worker) deaf() {
	w.mu.Lock()
	w.doomed = true
	w.mu.Unlock()
	w.end()
}

// read hands on what the worker says, until its end.
func (w *worker) read() {
	in := bufio.NewReaderSize(w.proc.Stdout(), 64<<10)
	released := int64(0)
	for at := int64(0); ; {
		line, err := readLine(in)
		if err == nil {
			err = w.hear(line, at)
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
			w.doomed, w.fault = true, err.Error()
			w.mu.Unlock()
			w.proc.Kill()                  // it no longer matters what it says
			_, _ = io.Copy(io.Discard, in) // what it still says, it says to nobody
			break
		}
	}
	close(w.heard)
	res, err := w.proc.Wait()
	w.conclude(res, err) // nobody was told, when nobody knows
	close(w.gone)
}

// release lets go of what was heard, but for what was said about actions that
// are not settled: of each that is through all, and of one that goes on not more
// than is kept of a log.
func (w *worker) release(at int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, from := range w.held {
		if w.open[id] != nil {
			from = max(from, at-keepHeard)
		}
		at = min(at, from)
	}
	w.proc.Release(at)
}

const (
	releaseEvery = 1 << 20  // bytes of stdout
	keepHeard    = 16 << 20 // bytes of stdout
)

// hear takes one line of the worker. The error says what is wrong with it.
func (w *worker) hear(line []byte, at int64) error {
	blank := len(bytes.TrimSpace(line)) == 0
	var r protocol.WorkerReply
	var err error
	if !blank {
		if r, err = decode(line); err != nil {
			return fmt.Errorf("a line on its stdout is no reply (%w): %s", err, cut(line))
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.heardTo = at + int64(len(line)); blank {
		return nil
	}
	q := w.open[r.ID]
	if q == nil {
		return fmt.Errorf("it answered the request %d, which is not open: %s", r.ID, cut(line))
	}
	if !q.abandoned { // else nobody listens, and what it said is its caller's
		q.add(r)
	}
	if from, action := w.held[r.ID]; action && from < 0 {
		w.held[r.ID] = at
	}
	if r.Exit != nil {
		if !q.abandoned {
			q.exit = *r.Exit
		}
		w.speed.done++
		w.remove(r.ID, q)
		close(q.done)
	}
	return nil
}

// conclude says to all that are open what became of the program.
func (w *worker) conclude(res runner.Result, err error) {
	w.concluded.Do(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.doomed, w.result = true, res
		var unknown *runner.UnknownError
		switch {
		case errors.As(err, &unknown):
			w.outcome = err
		case w.fault != "":
			w.outcome = &runner.WorkerError{Reason: "The worker was ended, because " + w.fault}
		case err != nil:
			w.outcome = &runner.WorkerError{Reason: "The worker was lost: " + err.Error()}
		case res.OOM:
			w.outcome = &runner.WorkerError{Reason: "The worker ran out of memory while it carried this out"}
		default:
			w.outcome = &runner.WorkerError{Reason: fmt.Sprintf("The worker ended with exit code %d while it carried this out", res.ExitCode)}
		}
		close(w.dead)
	})
}

// load says how many invocations are open, and whether it takes more.
func (w *worker) load() (open int, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.open), !w.doomed
}

// enter gives an invocation its number.
func (w *worker) enter(q *request) (id int64, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.doomed {
		return 0, false
	}
	if len(w.open) == 0 {
		w.speed = speed{since: q.since}
	}
	w.next++
	w.open[w.next] = q
	if q.adoptable() {
		w.actions.Add(1)
		w.held[w.next] = -1
	}
	return w.next, true
}

// settle is for an action whose end is on record, or that was not asked of it;
// one that is not recorded is only let go of.
func (w *worker) settle(id int64, q *request, recorded bool) error {
	if !q.adoptable() {
		return nil
	}
	defer w.actions.Done()
	if !recorded {
		return nil
	}
	w.mu.Lock()
	delete(w.held, id)
	w.mu.Unlock()
	return w.proc.Settled(id)
}

// remove is called with the lock held.
func (w *worker) remove(id int64, q *request) {
	if w.open[id] == q {
		delete(w.open, id)
	}
	w.endIfUseless()
}

// abandon gives up an invocation that has not ended though it was asked to:
// the worker is ended as soon as nobody else uses it.
func (w *worker) abandon(q *request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	q.abandoned, w.doomed = true, true
	w.endIfUseless()
}

// endIfUseless is called with the lock held.
func (w *worker) endIfUseless() {
	if !w.doomed {
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

// keep hands a worker over that is well and has nothing to do, and reports whether
// that was done: then it is nothing of this Pool's any more.
func (w *worker) keep() bool {
	w.mu.Lock()
	if w.doomed || w.odd || len(w.open) > 0 || len(w.held) > 0 {
		w.mu.Unlock()
		return false
	}
	w.doomed = true // so nothing is asked of it while it is handed over
	asked, heard := w.next, w.heardTo
	w.mu.Unlock()
	if !w.proc.Keep(asked, heard) {
		return false
	}
	<-w.gone
	return true
}

// keepNot says that a worker must end with its command.
func (w *worker) keepNot() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.odd = true
}

// end asks the worker to end, sees to it that it does, and returns when nothing
// of it is left.
func (w *worker) end() {
	w.mu.Lock()
	w.doomed = true
	w.mu.Unlock()
	_ = w.proc.Stdin().Close() // else it is killed
	select {
	case <-w.dead:
	case <-time.After(w.grace):
		w.proc.Kill()
	}
	<-w.gone
}
