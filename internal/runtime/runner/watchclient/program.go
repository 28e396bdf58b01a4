package watchclient

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/parallel"
	"deployster/internal/runtime/runner"
)

// releaseEvery is after how many bytes of output the output that was read is released.
const releaseEvery = 64 << 10

// listener processes the output of a program. One goroutine at a time calls its
// methods, except changed.
type listener interface {
	line(line []byte) error    // one line
	skipped(line []byte) error // a line above the rate limit
	changed()                  // lines were skipped: all resources may have changed
}

// program is a process that watches resources.
type program struct {
	proc  runner.Process
	to    listener
	most  int // longest line, in bytes
	grace time.Duration
	meter meter

	mu    sync.Mutex
	why   error // why it was ended; nil = it was not
	dirty bool  // changed will be called

	outgoing chan []byte   // lines for its stdin
	gone     chan struct{} // closed when its container is removed; result and err are set before
	result   runner.Result
	err      error
}

// launch starts a program.
func (c *Client) launch(ctx context.Context, s runner.Spec, to listener, most int) (*program, error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, ErrClosed
	}
	c.running.Add(1)
	c.mu.Unlock()
	var sources runner.Sources
	if s.Settings.Host == nil { // a host compares those of its own
		sources = runner.SourcesOf(s.Mounts)
	}
	proc, err := c.o.Launcher.Launch(ctx, s)
	if err != nil {
		c.running.Done()
		return nil, err
	}
	p := &program{proc: proc, to: to, most: most, grace: c.o.Grace, outgoing: make(chan []byte), gone: make(chan struct{})}
	go p.write()
	go p.watchPlugs(sources)
	go func() {
		defer c.running.Done()
		p.read()
	}()
	return p, nil
}

// write writes lines to stdin, and flushes when no more lines are waiting.
func (p *program) write() {
	out := bufio.NewWriterSize(p.proc.Stdin(), 64<<10)
	for {
		var line []byte
		select {
		case line = <-p.outgoing:
		case <-p.gone:
			return
		}
		for line != nil {
			if _, err := out.Write(line); err != nil {
				return // the program is ending
			}
			select {
			case line = <-p.outgoing:
			default:
				line = nil
			}
		}
		if out.Flush() != nil {
			return
		}
	}
}

// send passes a line to write, and reports whether it did so before ctx or the program
// ended.
func (p *program) send(ctx context.Context, line []byte) bool {
	select {
	case p.outgoing <- line:
		return true
	case <-ctx.Done():
	case <-p.gone:
	}
	return false
}

// read reads the program's output to its end.
func (p *program) read() {
	in := bufio.NewReaderSize(p.proc.Stdout(), 64<<10)
	for at, released := int64(0), int64(0); ; {
		line, err := runner.ReadLine(in, p.most)
		switch {
		case err == nil:
			at += int64(len(line))
			err = p.handleLine(line)
		case diag.Is[runner.LongLineError](err):
			err = tooLong(p.most)
		default:
			err = io.EOF // the output has ended, for whatever reason
		}
		if at-released >= releaseEvery {
			p.proc.Release(at)
			released = at
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			p.fail(err)
			_, _ = io.Copy(io.Discard, in) // its stdout must be read to the end
			break
		}
	}
	p.result, p.err = p.proc.Wait()
	close(p.gone)
}

// handleLine processes one line.
func (p *program) handleLine(line []byte) error {
	read, err := p.meter.line(time.Now())
	switch {
	case err != nil:
		return err
	case read:
		return p.to.line(line)
	}
	p.mu.Lock()
	if !p.dirty {
		p.dirty = true
		time.AfterFunc(floodPause, func() {
			p.mu.Lock()
			p.dirty = false
			p.mu.Unlock()
			p.to.changed()
		})
	}
	p.mu.Unlock()
	return p.to.skipped(line)
}

// fail kills the program for a reason. Only the first reason is recorded.
func (p *program) fail(why error) {
	p.blame(why)
	p.proc.Kill()
}

func (p *program) blame(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why == nil {
		p.why = why
	}
}

// ended returns the error that reports why the program has ended.
func (p *program) ended() error {
	if why := p.reason(); why != nil && !errors.Is(why, context.Canceled) {
		return why
	}
	return &endError{p.result, p.err}
}

// reason returns why the program was ended; nil = it ended by itself.
func (p *program) reason() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why
}

// stop ends the program: it closes stdin, then sends SIGTERM, then SIGKILL. It returns
// when the container is removed.
func (p *program) stop() {
	p.blame(context.Canceled)
	_ = p.proc.Stdin().Close() // if this fails, the program gets a signal
	if p.goneWithin(endGrace) {
		return
	}
	p.proc.Terminate()
	if p.goneWithin(p.grace) {
		return
	}
	p.proc.Kill()
	<-p.gone
}

func (p *program) goneWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.gone:
		return true
	case <-timer.C:
		return false
	}
}

// watchPlugs ends the program when one of its plugs was replaced.
func (p *program) watchPlugs(sources runner.Sources) {
	if len(sources) == 0 {
		return
	}
	for {
		select {
		case <-p.gone:
			return
		case <-time.After(parallel.Aligned(runner.SourcesEvery)):
		}
		if sources.Replaced() {
			p.fail(runner.ErrReplaced)
			return
		}
	}
}
