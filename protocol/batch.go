package protocol

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
)

// BatchActor is implemented by types whose worker carries out an action for many resources
// together: those that About.Batch lists.
type BatchActor[C, S any] interface {
	// ActTogether carries out c.Action of all calls, which is the same. It calls begin with the index
	// of a call before it changes anything for that, and returns an error for each call by index; nil =
	// it ended well. A call that was not begun must have an error.
	ActTogether(ctx context.Context, calls []*Call[C, S], begin func(i int)) []error
}

// together carries out a batch, and returns the exit code of each invocation.
func (s server[C, S]) together(ctx context.Context, all []Process, begin func(i int)) []int {
	actor, acts := s.r.(BatchActor[C, S])
	if !acts || !s.about.Batch.Takes(actionOf(all)) {
		return oneByOne(ctx, all, begin, s.answer)
	}
	codes := slices.Repeat([]int{exitFailed}, len(all))
	var calls []*Call[C, S]
	var index []int // of each call in all
	for i, p := range all {
		c, err := s.call(p)
		if err != nil {
			_, _ = fmt.Fprintln(p.Stderr, err)
			continue
		}
		c.Args = p.Args[min(1, len(p.Args)):]
		if s.about.Memory {
			c.Out = c.Log // stdout is reserved for the memory
		}
		calls, index = append(calls, c), append(index, i)
	}
	errs := s.actTogether(ctx, actor, calls, func(i int) { begin(index[i]) })
	for i, c := range calls {
		p, err := all[index[i]], errors.New("the type did not report how this ended")
		if i < len(errs) {
			err = errs[i]
		}
		if s.about.Memory {
			if memory := c.memory(c.Action, err != nil); memory != nil {
				err = errors.Join(err, writeAnswer(p.Stdout, ActionAnswer{Memory: memory}))
			}
		}
		switch {
		case err == nil:
			codes[index[i]] = exitOK
		case ctx.Err() != nil:
			codes[index[i]] = exitTerminated
		}
		if err != nil {
			_, _ = fmt.Fprintln(p.Stderr, err)
		}
	}
	return codes
}

// actTogether calls the type. If that panics, all its calls fail.
func (s server[C, S]) actTogether(ctx context.Context, actor BatchActor[C, S], calls []*Call[C, S], begin func(int)) (errs []error) {
	defer func() {
		if v := recover(); v != nil {
			errs = slices.Repeat([]error{fmt.Errorf("panic: %v\n%s", v, debug.Stack())}, len(calls))
		}
	}()
	return actor.ActTogether(ctx, calls, begin)
}

// actionOf names the action of a batch.
func actionOf(all []Process) string {
	if len(all) == 0 || len(all[0].Args) == 0 {
		return ""
	}
	return all[0].Args[0]
}

// oneByOne carries out the invocations of a batch one after the other.
func oneByOne(ctx context.Context, all []Process, begin func(int), answer func(context.Context, Process) int) []int {
	codes := slices.Repeat([]int{exitTerminated}, len(all))
	for i, p := range all {
		if ctx.Err() == nil {
			begin(i)
			codes[i] = answer(ctx, p)
		}
	}
	return codes
}

// requestAll starts a batch: its invocations are open until all have ended.
func (w *worker) requestAll(ctx context.Context, batch []WorkerRequest) error {
	select {
	case w.wait <- struct{}{}:
	case <-ctx.Done():
		return nil
	}
	mine, end := context.WithCancel(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range batch {
		if w.open[r.ID] != nil {
			end()
			return fmt.Errorf("the id %d is in use already", r.ID)
		}
		w.open[r.ID] = end // a batch is cancelled as a whole
	}
	w.running.Go(func() {
		defer end()
		w.serveAll(mine, batch)
	})
	return nil
}

// serveAll carries out a batch once a slot is free.
func (w *worker) serveAll(ctx context.Context, batch []WorkerRequest) {
	codes := slices.Repeat([]int{exitTerminated}, len(batch))
	select {
	case w.run <- struct{}{}:
		all := make([]Process, 0, len(batch))
		for _, r := range batch {
			all = append(all, w.processOf(r))
		}
		if ctx.Err() == nil {
			codes = w.together(ctx, all, func(i int) { w.out.add(WorkerReply{ID: batch[i].ID, Begun: true}) })
		}
		<-w.run
	case <-ctx.Done():
	}
	for i, r := range batch {
		w.end(r.ID, codes[i])
	}
	<-w.wait
}

// processOf returns the process that an invocation would be.
func (w *worker) processOf(r WorkerRequest) Process {
	id := r.ID // the rest of r is not kept for as long as the invocation writes
	return Process{Args: r.Args, Stdin: bytes.NewReader(r.Stdin),
		Stdout: replyWriter(func(s string) { w.out.add(WorkerReply{ID: id, Stdout: s}) }),
		Stderr: replyWriter(func(s string) { w.out.add(WorkerReply{ID: id, Stderr: s}) })}
}
