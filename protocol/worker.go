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

	"deployster/protocol/internal/jsonvalue"
)

const (
	// workerRuns is how many invocations a worker carries out concurrently.
	workerRuns = 16
	// workerWaits is how many more invocations it accepts. Beyond that it stops
	// reading until one is done, so that its memory is bounded.
	workerWaits = 256
	// workerReplies is how many bytes of replies may wait for the reader of stdout
	// before the next reply blocks.
	workerReplies = 1 << 20
	// maxWorkerLine is the longest request, in bytes.
	maxWorkerLine = 64 << 20
)

// serveWorker serves many invocations until stdin ends, and returns the exit code. A line
// that it cannot read ends it, because the ids of the lines that follow are then unreliable.
func serveWorker(ctx context.Context, p Process, answer func(context.Context, Process) int,
	together func(context.Context, []Process, func(int)) []int) int {
	w := worker{answer: answer, together: together, open: map[int64]context.CancelFunc{},
		run: make(chan struct{}, workerRuns), wait: make(chan struct{}, workerRuns+workerWaits), out: newReplies(p.Stdout),
		next: make(chan func()), resting: make(chan struct{}, workerRuns)}
	ctx, cancel := context.WithCancel(ctx)
	var endWatches context.CancelFunc
	w.watching, endWatches = context.WithCancel(ctx)
	lines := make(chan []byte)
	failed := make(chan error, 1)
	go func() { failed <- readLines(ctx, p.Stdin, lines) }()
	err := w.serve(ctx, lines, failed)
	endWatches()
	close(w.next)
	if err != nil || ctx.Err() != nil {
		cancel() // nobody reads the answers of the open invocations any more, or the process was signalled to end
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

// readLines sends each line of stdin to the channel. It may still block in a read
// when the worker returns; it ends with the process.
func readLines(ctx context.Context, from io.Reader, to chan<- []byte) error {
	in := bufio.NewReaderSize(from, 64<<10)
	for {
		line, err := readLine(in)
		// A line that is cut off means that the sender was killed: the line is not a
		// request, and the open invocations continue.
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

// worker holds the open invocations and the channel for their replies.
type worker struct {
	answer    func(context.Context, Process) int
	together  func(ctx context.Context, batch []Process, begin func(i int)) (codes []int)
	run, wait chan struct{}   // semaphores: one slot for each running invocation, and one for each open invocation
	watching  context.Context // of watches, which continue until stdin ends and take no slot
	running   sync.WaitGroup
	next      chan func()   // to goroutines that rest
	resting   chan struct{} // a semaphore: one slot for each of them

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
	if err := jsonvalue.Decode(line, &r, false); err != nil {
		return fmt.Errorf("a line that is not a request: %w", err)
	}
	if r.Cancel {
		w.mu.Lock()
		defer w.mu.Unlock()
		if end := w.open[r.ID]; end != nil { // nil if the invocation has already ended
			end()
		}
		return nil
	}
	if len(r.Batch) > 0 {
		return w.requestAll(ctx, r.Batch)
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
		w.start(func() { w.serveOne(mine, r) })
	}
	return nil
}

// start starts what ends soon. A goroutine that rests is preferred: its stack has already grown.
func (w *worker) start(do func()) {
	select {
	case w.next <- do:
		return
	default:
	}
	w.running.Go(func() {
		for do != nil {
			do()
			do = nil
			select {
			case w.resting <- struct{}{}:
				do = <-w.next // nil at the end
				<-w.resting
			default:
			}
		}
	})
}

// serveOne carries out one invocation once a slot is free.
func (w *worker) serveOne(ctx context.Context, r WorkerRequest) {
	code := exitTerminated
	if w.turn(ctx, r) {
		code = w.process(ctx, r)
		<-w.run
	}
	w.end(r.ID, code)
	<-w.wait
}

// turn waits for a slot, and reports whether the invocation is to begin. While it waits it replies
// so: the invocation's time does not count yet, and if it ends while it waits, it has not begun.
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
	if waited == begins { // otherwise the last reply already reported it
		w.waits(r, !begins)
	}
	if !begins {
		<-w.run
	}
	return begins
}

// waits replies whether an invocation waits for a slot, if the sender understands that.
func (w *worker) waits(r WorkerRequest, is bool) {
	if r.Waits {
		w.out.add(WorkerReply{ID: r.ID, Waits: &is})
	}
}

// process carries out one invocation as a process of its own would, and returns its
// exit code.
func (w *worker) process(ctx context.Context, r WorkerRequest) int {
	return w.answer(ctx, w.processOf(r))
}

// end replies that an invocation has ended.
func (w *worker) end(id int64, code int) {
	w.mu.Lock()
	w.open[id]()
	delete(w.open, id) // before the reply: the sender may use the id again right after it
	w.mu.Unlock()
	w.out.add(WorkerReply{ID: id, Exit: &code})
}

// replyWriter sends each write as a reply.
type replyWriter func(string)

func (f replyWriter) Write(p []byte) (int, error) {
	if len(p) > 0 {
		f(string(p))
	}
	return len(p), nil
}
