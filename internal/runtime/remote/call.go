package remote

import (
	"context"
	"fmt"
	"io"

	"deployster/internal/runtime/claims"
	"deployster/internal/runtime/remote/frame"
	"deployster/internal/runtime/runner"
)

// Run implements runner.Runner. It returns a *LostError when the connection was lost:
// an action may still run then, and the caller may adopt it.
func (c *Client) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	if ctx.Err() != nil {
		return runner.Result{}, cancelled(ctx, s.Name)
	}
	end := ending{Result: &runner.Result{}}
	var recorded error // the error of Spec.Ended
	known := false     // Spec.Ended has recorded the end: a lost connection changes nothing
	w := watchers{stdout: s.Stdout, stderr: s.Stderr, waiting: s.Waiting}
	err := c.call(ctx, kindRun, newRunRequest(s), w, func(call uint32, m frame.Message) error {
		said, err := decode[ending](m)
		if err != nil {
			return err
		}
		if said.Result == nil {
			said.Result = end.Result
		}
		end = said
		if m.Kind != kindEnded || s.Ended == nil {
			return nil
		}
		recorded = s.Ended(*end.Result, end.Error.decode(context.Cause(ctx)))
		known = recorded == nil
		return c.conn.send(kindRecorded, call, answer{Error: encodeError(recorded)})
	})
	switch {
	case err != nil && !known:
		return *end.Result, err
	case recorded != nil:
		return *end.Result, recorded
	case end.Error != nil && end.Error.Type == typeCancelled && ctx.Err() != nil:
		return *end.Result, cancelled(ctx, s.Name)
	}
	return *end.Result, end.Error.decode(nil)
}

func cancelled(ctx context.Context, name string) error {
	return fmt.Errorf("%s was cancelled: %w", name, context.Cause(ctx))
}

// Resolve implements runner.Runner.
func (c *Client) Resolve(ctx context.Context, reference string) (runner.Image, error) {
	a, err := c.ask(ctx, kindResolve, []byte(reference), watchers{})
	if err != nil || a.Image == nil {
		return runner.Image{}, err
	}
	return *a.Image, nil
}

// Adopt implements runner.Adopter.
func (c *Client) Adopt(ctx context.Context, id string, w runner.Watch) (runner.Outcome, error) {
	a, err := c.ask(ctx, kindAdopt, []byte(id), watchers{stdout: w.Stdout, stderr: w.Stderr, running: w.Running})
	if err != nil || a.Outcome == nil {
		return runner.Outcome{}, err
	}
	return *a.Outcome, nil
}

// Discard implements runner.Adopter.
func (c *Client) Discard(ctx context.Context, id string) error {
	_, err := c.ask(ctx, kindDiscard, []byte(id), watchers{})
	return err
}

// Running reports whether an action still runs on the host.
func (c *Client) Running(ctx context.Context, id string) (bool, error) {
	a, err := c.ask(ctx, kindIsOpen, []byte(id), watchers{})
	return a.Open, err
}

// Ship sends those contents of an image that the host lacks.
func (c *Client) Ship(ctx context.Context, s runner.Shipment, from runner.Contents) error {
	_, err := c.ask(ctx, kindShip, s, watchers{contents: from})
	return err
}

// Bring sends the files of an artifact if the host lacks them. It reads the archive
// only as far as the host requests it.
func (c *Client) Bring(ctx context.Context, f Files, archive io.Reader) error {
	_, err := c.ask(ctx, kindBring, f, watchers{contents: &sequence{from: archive}})
	return err
}

// Look returns where each plug leads on the host, in the order of plugs.
func (c *Client) Look(ctx context.Context, plugs []Plug) ([]Seen, error) {
	a, err := c.ask(ctx, kindLook, plugs, watchers{})
	if err == nil && len(a.Seen) != len(plugs) {
		err = fmt.Errorf("the host reported %d plugs instead of %d", len(a.Seen), len(plugs))
	}
	return a.Seen, err
}

// Claim does what a request is for on the host, and returns what other states have declared there.
func (c *Client) Claim(ctx context.Context, q claims.Request) ([]claims.Record, error) {
	a, err := c.ask(ctx, kindClaim, q, watchers{})
	return a.Claims, err
}

// ask makes a call whose only reply is an answer.
func (c *Client) ask(ctx context.Context, k frame.Kind, body any, w watchers) (answer, error) {
	if ctx.Err() != nil {
		return answer{}, context.Cause(ctx)
	}
	var a answer
	err := c.call(ctx, k, body, w, func(_ uint32, m frame.Message) error {
		var err error
		a, err = decode[answer](m)
		return err
	})
	if err == nil {
		err = a.Error.decode(context.Cause(ctx))
	}
	return a, err
}

// watchers receive what a host sends during a call. All are optional.
type watchers struct {
	stdout, stderr io.Writer
	running        func()
	waiting        func(reason string)
	contents       runner.Contents // source of the pieces that the host requests
	stdin          *output         // the input of a launched program
}

// waits passes on why a run has not begun yet.
func (w watchers) waits(m frame.Message) error {
	said, err := decode[waiting](m)
	if err == nil && w.waiting != nil {
		w.waiting(said.Reason)
	}
	return err
}

// call makes a call, and passes the messages about its end to said: kindEnded, if the
// host sends one, and kindDone. When ctx ends, call sends kindCancel to the host and
// still waits for its answer.
func (c *Client) call(ctx context.Context, k frame.Kind, body any, w watchers, said func(call uint32, m frame.Message) error) error {
	in := c.open(c.number())
	defer c.close(in.call)
	return c.follow(ctx, in, k, body, w, said)
}

// follow carries out the call of an inbox, as call does.
func (c *Client) follow(ctx context.Context, in *inbox, k frame.Kind, body any, w watchers, said func(uint32, frame.Message) error) error {
	request, err := encode(body)
	if err != nil {
		return fmt.Errorf("the request to the host cannot be encoded: %w", err)
	}
	if err := c.conn.send(k, in.call, request); err != nil {
		return &LostError{Err: err, Unsent: true}
	}
	stop := context.AfterFunc(ctx, func() { _ = c.conn.send(kindCancel, in.call, nil) }) // a lost connection is seen below
	defer stop()
	for {
		m, err := in.next(c.conn, nil)
		if err != nil {
			return err
		}
		switch m.Kind {
		case kindOut:
			err = c.show(in.call, m.Body, w)
		case kindRunning:
			if w.running != nil {
				w.running()
			}
		case kindWaiting:
			err = w.waits(m)
		case kindWant:
			err = c.give(ctx, m, w.contents)
		case kindTaken:
			if stream, n, ok := decodeTaken(m.Body); ok && stream == stdin && w.stdin != nil {
				w.stdin.taken(n)
			}
		case kindEnded, kindDone:
			err = said(in.call, m)
		default:
			err = fmt.Errorf("the host sends an unknown message %d", m.Kind)
		}
		if err != nil {
			c.conn.fail(err)
			return &LostError{Err: err}
		}
		if m.Kind == kindDone {
			return nil
		}
	}
}

// show writes output to the watcher of its stream, and notifies the host that it may send more.
func (c *Client) show(call uint32, body []byte, w watchers) error {
	if len(body) == 0 {
		return fmt.Errorf("the host sends output of an unknown stream")
	}
	to := w.stdout
	if body[0] == stderr {
		to = w.stderr
	}
	if to != nil {
		_, _ = to.Write(body[1:]) // a watcher that fails changes nothing
	}
	return c.conn.send(kindTaken, call, encodeTaken(body[0], len(body)-1))
}
