package images

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
)

// Paths in a container.
const (
	getDir       = "/tmp/build/get"
	putDir       = "/tmp/build/put"
	responsePath = "/tmp/build/response/answer"
)

// Options are what a Client works with.
type Options struct {
	Types     *typeclient.Client // runs the images
	Inspector runner.Inspector   // inspects them
}

// Client is an artifact.Client.
type Client struct {
	o Options

	mu     sync.Mutex
	infos  map[string]*once[artifact.Info]
	checks map[string]*once[artifact.Checked]
}

// New returns a Client.
func New(o Options) *Client {
	return &Client{o: o, infos: map[string]*once[artifact.Info]{}, checks: map[string]*once[artifact.Checked]{}}
}

// once is the answer to a question, shared by all who ask the same at the same time or
// later. After a failure the next one queries again.
type once[T any] struct {
	done  chan struct{}
	value T
	err   error
}

// ask answers a question from known answers, or by calling f. An interrupt of one caller
// does not fail the others.
func ask[T any](ctx context.Context, mu *sync.Mutex, known map[string]*once[T], key string, f func() (T, error)) (T, error) {
	for {
		mu.Lock()
		o := known[key]
		if o == nil {
			o = &once[T]{done: make(chan struct{})}
			known[key] = o
			mu.Unlock()
			o.value, o.err = f()
			if o.err != nil {
				mu.Lock()
				delete(known, key)
				mu.Unlock()
			}
			close(o.done)
			return o.value, o.err
		}
		mu.Unlock()
		select {
		case <-o.done:
		case <-ctx.Done():
			return o.value, context.Cause(ctx)
		}
		if o.err == nil || artifact.ClassOf(o.err) != artifact.Interrupted {
			return o.value, o.err
		}
	}
}

// target converts the target of an artifact for the typeclient.
func target(t artifact.Target) typeclient.Target {
	return typeclient.Target{Address: t.Address, Reference: t.Reference, Digest: t.Digest, Settings: t.Settings, Pull: t.Pull,
		Verify: t.Verify}
}

// orElse returns d, or none if d is 0.
func orElse(d, none time.Duration) time.Duration {
	if d == 0 {
		return none
	}
	return d
}

// encode writes a message: one line, with a newline at its end.
func encode(message any) ([]byte, error) {
	b, err := jsondoc.Encode(message)
	if err != nil {
		return nil, diag.Because(err, "Cannot query the image", "Its input is not valid JSON: %s", diag.Visible(err.Error()))
	}
	return append(b, '\n'), nil
}

// object returns a JSON object in canonical form; no input means {}.
func object(o json.RawMessage) (json.RawMessage, error) {
	if len(o) == 0 {
		return json.RawMessage("{}"), nil
	}
	c, err := jsondoc.CanonicalOwn(o)
	if err == nil && jsondoc.KindOf(c) != "an object" {
		err = errors.New("it is not an object")
	}
	if err != nil {
		return nil, diag.Because(err, "Cannot query the image", "Its source or params are invalid: %s", diag.Visible(err.Error()))
	}
	return c, nil
}

// classed gives an error of the typeclient its class, and keeps its message.
func classed(err error) error {
	class := artifact.Class("")
	switch {
	case err == nil:
		return nil
	case diag.Is[*typeclient.ExitError](err):
		class = artifact.Failed
	case diag.Is[*typeclient.ProtocolError](err), diag.Is[*runner.OutputError](err):
		class = artifact.Broken
	case diag.Is[*runner.DiskError](err):
		class = artifact.Refused
	default:
		return err
	}
	return withClass(class, err)
}

// withClass adds a class to the causes of a diagnostic.
func withClass(class artifact.Class, err error) error {
	var told *diag.Caused
	if !errors.As(err, &told) {
		return &artifact.Error{Class: class, Err: err}
	}
	return &diag.Caused{Diagnostic: told.Diagnostic, Cause: &artifact.Error{Class: class, Err: told.Cause}}
}
