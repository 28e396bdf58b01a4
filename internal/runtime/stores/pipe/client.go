package pipe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"deployster/internal/base/proc"
	"deployster/internal/base/sharedlog"
)

// Client is a store that a program serves. The first call starts the program, as does
// the next call after the program was lost.
type Client struct {
	command []string

	mu     sync.Mutex
	run    *run
	closed bool
}

// New returns the store that a command serves.
func New(command ...string) *Client { return &Client{command: command} }

// run is one process of the program.
type run struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *json.Encoder
	stderr bytes.Buffer

	write sync.Mutex // one request at a time

	mu    sync.Mutex
	last  uint64
	calls map[uint64]chan answer
	err   error         // why the program has ended
	ended chan struct{} // closed when the program has ended
}

// Create makes an object.
func (c *Client) Create(ctx context.Context, key string, data []byte) error {
	_, err := c.call(ctx, request{Op: opCreate, Key: key, Data: data})
	return err
}

// Get reads an object.
func (c *Client) Get(ctx context.Context, key string) ([]byte, error) {
	a, err := c.call(ctx, request{Op: opGet, Key: key})
	return a.Data, err
}

// List lists objects.
func (c *Client) List(ctx context.Context, prefix string) ([]string, error) {
	a, err := c.call(ctx, request{Op: opList, Key: prefix})
	return a.Keys, err
}

// Delete removes an object.
func (c *Client) Delete(ctx context.Context, key string) error {
	_, err := c.call(ctx, request{Op: opDelete, Key: key})
	return err
}

// Close ends the program.
func (c *Client) Close() error {
	c.mu.Lock()
	r := c.run
	c.run, c.closed = nil, true
	c.mu.Unlock()
	if r == nil {
		return nil
	}
	_ = r.in.Close()
	<-r.ended
	return nil
}

func (c *Client) call(ctx context.Context, q request) (answer, error) {
	if ctx.Err() != nil {
		return answer{}, context.Cause(ctx)
	}
	r, err := c.started()
	if err != nil {
		return answer{}, err
	}
	back := make(chan answer, 1)
	r.mu.Lock()
	r.last++
	q.ID = r.last
	r.calls[q.ID] = back
	r.mu.Unlock()
	if err := r.send(q); err != nil {
		return answer{}, c.lost(r)
	}
	select {
	case a := <-back:
		return a, a.err()
	case <-r.ended:
		select {
		case a := <-back:
			return a, a.err()
		default:
			return answer{}, c.lost(r)
		}
	case <-ctx.Done():
		_ = r.send(request{ID: q.ID, Op: opCancel})
		return answer{}, context.Cause(ctx)
	}
}

// started returns the running program, and starts it if none runs.
func (c *Client) started() (*run, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, fmt.Errorf("%w: it was closed", sharedlog.ErrDenied)
	}
	if c.run != nil {
		return c.run, nil
	}
	r := &run{cmd: exec.Command(c.command[0], c.command[1:]...), calls: map[uint64]chan answer{}, ended: make(chan struct{})}
	r.cmd.Env = proc.WithoutSecrets(os.Environ())
	// An interrupt from the terminal is for the client alone, which still needs the store to record.
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.cmd.Stderr = &r.stderr
	in, err := r.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := r.cmd.StdoutPipe()
	if err == nil {
		err = r.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", sharedlog.ErrDenied, err)
	}
	r.in, r.out = in, json.NewEncoder(in)
	c.run = r
	go r.read(out)
	return r, nil
}

// lost returns why a program has ended. The next call starts another.
func (c *Client) lost(r *run) error {
	<-r.ended
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run == r {
		c.run = nil
	}
	return r.err
}

func (r *run) send(q request) error {
	r.write.Lock()
	defer r.write.Unlock()
	return r.out.Encode(q)
}

// read passes the answers on to the calls that wait for them.
func (r *run) read(out io.Reader) {
	var err error
	for in := json.NewDecoder(out); ; {
		var a answer
		if err = in.Decode(&a); err != nil {
			break
		}
		r.mu.Lock()
		back := r.calls[a.ID]
		delete(r.calls, a.ID)
		r.mu.Unlock()
		if back != nil {
			back <- a
		}
	}
	_ = r.in.Close()
	ended := r.cmd.Wait()
	said := strings.TrimSpace(r.stderr.String())
	switch {
	case r.cmd.ProcessState.ExitCode() == Refused:
		r.err = fmt.Errorf("%w: %s", sharedlog.ErrDenied, said)
	case errors.Is(err, io.EOF):
		r.err = fmt.Errorf("the program for the store has ended: %v %s", ended, said)
	default:
		r.err = fmt.Errorf("the program for the store: %w %s", err, said)
	}
	close(r.ended)
}

// Refused is the exit code of a program that can never serve the store in its arguments.
const Refused = 3
