package protocol

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

const (
	// workerRuns is how many invocations a worker carries out at one time.
	workerRuns = 16
	// workerWaits is how many more it takes in. Beyond that it stops reading
	// until one is done, so that its memory is bounded.
	workerWaits = 256
	// workerReplies is how many bytes of replies may wait for whoever reads them
	// before who replies waits too.
	workerReplies = 1 << 20
	// maxWorkerLine is the longest request, in bytes.
	maxWorkerLine = 64 << 20
)

// serveWorker serves many invocations until stdin ends, and gives the exit
// code. What cannot be read ends it: it no longer knows whose requests follow.
func serveWorker(ctx context.Context, p Process, answer func(context.Context, Process) int) int {
	w := worker{answer: answer, open: map[int64]context.CancelFunc{},
		run: make(chan struct{}, workerRuns), wait: make(chan struct{}, workerRuns+workerWaits), out: newReplies(p.Stdout)}
	ctx, cancel := context.WithCancel(ctx)
	var endWatches context.CancelFunc
	w.watching, endWatches = context.WithCancel(ctx)
	lines := make(chan []byte)
	failed := make(chan error, 1)
	go func() { failed <- readLines(ctx, p.Stdin, lines) }()
	err := w.serve(ctx, lines, failed)
	endWatches()
	if err != nil || ctx.Err() != nil {
		cancel() // what is open has nobody to answer to, or was asked to end
	}
	w.running.Wait()
	cancel()
	lost := w.out.end()
	switch {
	case err != nil:
		_, _ = fmt.Fprintf(p.Stderr, "worker: %s\n", err)
		return exitUsage
	case lost != nil:
		return exitFailed
	}
	return exitOK
}

// readLines passes on each line of stdin. It stays behind, reading, when the
// process is asked to end; the process then takes it along.
func readLines(ctx context.Context, from io.Reader, to chan<- []byte) error {
	in := bufio.NewReaderSize(from, 64<<10)
	for {
		line, err := readLine(in)
		// Over a line that is cut off whoever asks has died: it was not asked,
		// and what is open is to go on.
		if len(bytes.TrimSpace(line)) > 0 && (err == nil || json.Valid(line)) {
			select {
			case to <- line:
			case <-ctx.Done():
				return nil
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxWorkerLine {
			return nil, fmt.Errorf("a request of more than %d bytes", maxWorkerLine)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// worker is the invocations that are open, and the way to answer them.
type worker struct {
	answer    func(context.Context, Process) int
	run, wait chan struct{}   // a place for each that runs, and for each that is open at all
	watching  context.Context // of what goes on until stdin ends, and has no place
	running   sync.WaitGroup

	mu   sync.Mutex
	open map[int64]context.CancelFunc

	out *replies
}

func (w *worker) serve(ctx context.Context, lines <-chan []byte, failed <-chan error) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			return err
		case line := <-lines:
			if err := w.request(ctx, line); err != nil {
				return err
			}
		}
	}
}

func (w *worker) request(ctx context.Context, line []byte) error {
	var r WorkerRequest
	if err := decode(line, &r, false); err != nil {
		return fmt.Errorf("a line that is no request: %w", err)
	}
	if r.Cancel {
		w.mu.Lock()
		defer w.mu.Unlock()
		if end := w.open[r.ID]; end != nil { // else it has ended meanwhile
			end()
		}
		return nil
	}
	watches := len(r.Args) == 1 && r.Args[0] == watchArg
	parent := ctx
	if watches {
		parent = w.watching
	} else {
		select {
		case w.wait <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
	}
	mine, end := context.WithCancel(parent)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open[r.ID] != nil {
		end()
		return fmt.Errorf("the id %d is in use already", r.ID)
	}
	w.open[r.ID] = end
	if watches {
		w.running.Go(func() { w.end(r.ID, w.process(mine, r)) })
	} else {
		w.running.Go(func() { w.serveOne(mine, r) })
	}
	return nil
}

// serveOne carries out one invocation, when it has a place.
func (w *worker) serveOne(ctx context.Context, r WorkerRequest) {
	code := exitTerminated
	if w.turn(ctx, r) {
		code = w.process(ctx, r)
		<-w.run
	}
	w.end(r.ID, code)
	<-w.wait
}

// turn waits for a place, and reports whether an invocation is to begin. While there is
// none it says so: its time does not count yet, and when it ends then, it was never begun.
func (w *worker) turn(ctx context.Context, r WorkerRequest) bool {
	waited := false
	select {
	case w.run <- struct{}{}:
	default:
		waited = true
		w.waits(r, true)
		select {
		case w.run <- struct{}{}:
		case <-ctx.Done():
			return false
		}
	}
	begins := ctx.Err() == nil
	if waited == begins { // else that was said
		w.waits(r, !begins)
	}
	if !begins {
		<-w.run
	}
	return begins
}

// waits says to who understands it whether an invocation waits for its turn.
func (w *worker) waits(r WorkerRequest, is bool) {
	if r.Waits {
		w.out.add(WorkerReply{ID: r.ID, Waits: &is})
	}
}

// process carries out one invocation as a process of its own would, and gives its exit
// code.
func (w *worker) process(ctx context.Context, r WorkerRequest) int {
	return w.answer(ctx, Process{Args: r.Args, Stdin: bytes.NewReader(r.Stdin),
		Stdout: replyWriter(func(s string) { w.out.add(WorkerReply{ID: r.ID, Stdout: s}) }),
		Stderr: replyWriter(func(s string) { w.out.add(WorkerReply{ID: r.ID, Stderr: s}) })})
}

// end says that an invocation has ended.
func (w *worker) end(id int64, code int) {
	w.mu.Lock()
	w.open[id]()
	delete(w.open, id) // before the reply: the id may come again right after it
	w.mu.Unlock()
	w.out.add(WorkerReply{ID: id, Exit: &code})
}

// replyWriter sends what is written as replies.
type replyWriter func(string)

func (f replyWriter) Write(p []byte) (int, error) {
	if len(p) > 0 {
		f(string(p))
	}
	return len(p), nil
}
