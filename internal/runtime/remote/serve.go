package remote

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"deployster/internal/runtime/claims"
	"deployster/internal/runtime/remote/frame"
	"deployster/internal/runtime/runner"
)

// Place runs images on the host, for Serve.
type Place interface {
	runner.Runner
	runner.Launcher
	runner.Adopter
	// Running reports whether an action still runs.
	Running(ctx context.Context, id string) (bool, error)
	// Enter admits a client, or returns why not.
	Enter(ctx context.Context, h Hello) (Welcome, error)
	// Acts returns nil if the client that Enter has admitted may still begin actions,
	// and otherwise an error that names the client that has taken over.
	Acts(ctx context.Context, h Hello) error
	// Receive fetches those contents of an image that the host lacks.
	Receive(ctx context.Context, s runner.Shipment, from runner.Contents) error
	// Bring stores the files of an artifact, if they are missing. Later runs that mount
	// these files see them.
	Bring(ctx context.Context, f Files, archive io.Reader) error
	// Look returns where plugs lead.
	Look(ctx context.Context, plugs []Plug) []Seen
	// Claim does what a request is for, and returns what other states have declared.
	Claim(ctx context.Context, q claims.Request) ([]claims.Record, error)
}

// Serve lets the client at the other end of the stream run images at a place. It
// returns nil when the client has closed the stream, and neither Enter nor a call is in progress. It
// returns an error when the connection is lost. What runs then continues, and the process
// must end at once, as a killed command does: the next client adopts its actions.
func Serve(ctx context.Context, stream io.ReadWriteCloser, at Place, t Timing) error {
	s := &server{conn: newConn(stream, t), at: at, calls: map[uint32]*served{}}
	stop := context.AfterFunc(ctx, func() { s.conn.fail(context.Cause(ctx)) })
	defer stop()
	go s.conn.keepAlive()
	read := make(chan error, 1)
	go func() { read <- s.conn.read(func(m frame.Message) error { return s.handle(ctx, m) }) }()
	var err error
	select {
	case err = <-read:
	case <-s.conn.ended: // closing a stream need not wake its reader
		err = s.conn.err
	}
	if err == io.EOF && s.idle() {
		s.conn.fail(io.EOF)
		return nil
	}
	s.conn.fail(err)
	return fmt.Errorf("the connection is lost: %w", s.conn.err)
}

// server is the host's end of a connection.
type server struct {
	conn  *conn
	at    Place
	hello atomic.Pointer[Hello] // nil until the client was admitted
	heard bool                  // the client has sent its greeting

	mu       sync.Mutex
	entering bool // Enter has not returned
	calls    map[uint32]*served
}

// served is a call in progress.
type served struct {
	cancel   context.CancelCauseFunc
	outputs  map[byte]*output
	recorded chan answer // receives the client's reply to kindEnded
	pieces   *pieces     // of a kindShip or kindBring
	launched *launched   // of a kindLaunch
}

func (s *server) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls) == 0 && !s.entering
}

func (s *server) setEntering(is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entering = is
}

// handle processes one message. It starts calls without waiting for them.
func (s *server) handle(ctx context.Context, m frame.Message) error {
	if s.hello.Load() == nil {
		return s.greet(ctx, m)
	}
	switch m.Kind {
	case kindRun, kindAdopt, kindIsOpen, kindDiscard, kindResolve, kindShip, kindBring, kindLook, kindLaunch, kindInspect,
		kindClaim, kindGuard:
		return s.begin(ctx, m)
	}
	s.mu.Lock()
	call := s.calls[m.Call]
	s.mu.Unlock()
	if call == nil {
		return nil // the call has ended
	}
	switch m.Kind {
	case kindCancel:
		call.cancel(ErrCancelled)
	case kindTaken:
		if stream, n, ok := decodeTaken(m.Body); ok && call.outputs[stream] != nil {
			call.outputs[stream].taken(n)
		}
	case kindPiece:
		if call.pieces != nil {
			return call.pieces.put(m.Body)
		}
	case kindOut, kindSignal:
		if call.launched != nil {
			return call.launched.handle(m)
		}
	case kindRecorded:
		a, err := decode[answer](m)
		if err != nil {
			return err
		}
		select {
		case call.recorded <- a:
		default: // there was no kindEnded, or the client replies twice
		}
	default:
		return fmt.Errorf("the client sends an unknown message %d", m.Kind)
	}
	return nil
}

// greet processes the client's greeting, and admits or refuses it. It does not wait: the undo of
// what an earlier client has left may take long.
func (s *server) greet(ctx context.Context, m frame.Message) error {
	if m.Kind != kindHello || s.heard {
		return errors.New("the client does not identify itself, and wait for the reply")
	}
	s.heard = true
	h, err := decode[Hello](m)
	if err != nil {
		return err
	}
	s.setEntering(true)
	go func() {
		welcome, err := s.at.Enter(ctx, h)
		s.setEntering(false)
		if err != nil {
			_ = s.conn.send(kindRefused, 0, encodeError(err)) // the client learns why, if it can be reached
			s.conn.fail(err)
			return
		}
		s.hello.Store(&h)
		if err := s.conn.send(kindHello, 0, welcome); err != nil {
			s.conn.fail(err)
		}
	}()
	return nil
}

// begin starts a call.
func (s *server) begin(ctx context.Context, m frame.Message) error {
	call := &served{outputs: map[byte]*output{}, recorded: make(chan answer, 1)}
	ctx, call.cancel = context.WithCancelCause(ctx)
	serve, err := s.serves(ctx, call, m)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls[m.Call] != nil {
		return fmt.Errorf("the client starts the call %d twice", m.Call)
	}
	s.calls[m.Call] = call
	go func() {
		defer call.cancel(nil)
		done := serve()
		s.mu.Lock()
		delete(s.calls, m.Call)
		s.mu.Unlock()
		if err := s.conn.send(kindDone, m.Call, done); err != nil {
			// It may be too large. A lost connection ends Serve.
			_ = s.conn.send(kindDone, m.Call, answer{Error: encodeError(err)})
		}
	}()
	return nil
}

// serves decodes the message that begins a call, and returns the function that carries
// the call out and returns the body of kindDone.
func (s *server) serves(ctx context.Context, call *served, m frame.Message) (func() any, error) {
	switch m.Kind {
	case kindRun:
		r, err := s.request(call, m)
		if err != nil {
			return nil, err
		}
		if o := call.outputs[stdout]; o != nil {
			r.Spec.Stdout = o
		}
		return func() any { return s.run(ctx, call, m.Call, r) }, nil
	case kindLaunch:
		r, err := s.request(call, m)
		if err != nil {
			return nil, err
		}
		o := newOutput(s.conn, m.Call, stdout)
		call.outputs[stdout] = o
		call.launched = newLaunched(s.conn, m.Call, o)
		return func() any { return call.launched.run(ctx, s.at, r.Spec) }, nil
	case kindAdopt:
		for _, stream := range []byte{stdout, stderr} {
			call.outputs[stream] = newOutput(s.conn, m.Call, stream)
		}
		return func() any { return s.adopt(ctx, call, m.Call, string(m.Body)) }, nil
	case kindShip:
		shipment, err := decode[runner.Shipment](m)
		if err != nil {
			return nil, err
		}
		call.pieces = newPieces(s.conn, m.Call)
		return func() any { return answer{Error: encodeError(s.at.Receive(ctx, shipment, call.pieces))} }, nil
	case kindBring:
		files, err := decode[Files](m)
		if err != nil {
			return nil, err
		}
		call.pieces = newPieces(s.conn, m.Call)
		return func() any {
			archive := bufio.NewReaderSize(&stream{ctx: ctx, from: call.pieces}, maxPiece)
			return answer{Error: encodeError(s.at.Bring(ctx, files, archive))}
		}, nil
	case kindGuard:
		r, err := decode[GuardRequest](m)
		if err != nil {
			return nil, err
		}
		return func() any { return s.guard(ctx, r) }, nil
	case kindLook:
		plugs, err := decode[[]Plug](m)
		if err != nil {
			return nil, err
		}
		return func() any { return answer{Seen: s.at.Look(ctx, plugs)} }, nil
	case kindInspect:
		i, err := decode[Inspection](m)
		if err != nil {
			return nil, err
		}
		return func() any { return inspect(ctx, s.at, i) }, nil
	case kindClaim:
		q, err := decode[claims.Request](m)
		if err != nil {
			return nil, err
		}
		return func() any {
			others, err := s.at.Claim(ctx, q)
			return answer{Claims: others, Error: encodeError(err)}
		}, nil
	default:
		return func() any { return s.answer(ctx, m) }, nil
	}
}

// request decodes the request to run or launch a program. What the client wants to see goes to it.
func (s *server) request(call *served, m frame.Message) (runRequest, error) {
	r, err := decode[runRequest](m)
	if err != nil {
		return r, err
	}
	if r.Stdout {
		call.outputs[stdout] = newOutput(s.conn, m.Call, stdout)
	}
	if r.Stderr {
		o := newOutput(s.conn, m.Call, stderr)
		call.outputs[stderr], r.Spec.Stderr = o, o
	}
	if r.Waiting {
		r.Spec.Waiting = func(reason string) {
			_ = s.conn.send(kindWaiting, m.Call, waiting{reason}) // a lost connection ends Serve
		}
	}
	return r, nil
}

// run carries out an invocation. If the client requests kindEnded, run sends it before
// kindDone, and the proof of the end stays until the client has recorded it.
func (s *server) run(ctx context.Context, call *served, id uint32, r runRequest) ending {
	if r.Spec.Kind == runner.Action {
		if err := s.at.Acts(ctx, *s.hello.Load()); err != nil {
			return ending{Error: encodeError(err)}
		}
	}
	told := false
	if r.Ended {
		r.Spec.Ended = func(res runner.Result, err error) error {
			if err := s.conn.send(kindEnded, id, ending{Result: &res, Error: encodeError(err)}); err != nil {
				return err
			}
			select {
			case a := <-call.recorded:
				told = true
				return a.Error.decode(nil)
			case <-s.conn.ended:
				return s.conn.err
			}
		}
	}
	res, err := s.at.Run(ctx, r.Spec)
	end := ending{Error: encodeError(err)}
	if !told {
		end.Result = &res
	}
	return end
}

// adopt waits for the end of an action of an earlier client.
func (s *server) adopt(ctx context.Context, call *served, id uint32, action string) answer {
	out, err := s.at.Adopt(ctx, action, runner.Watch{
		Running: func() { _ = s.conn.send(kindRunning, id, nil) }, // a lost connection ends Serve
		Stdout:  call.outputs[stdout], Stderr: call.outputs[stderr],
	})
	return answer{Outcome: &out, Error: encodeError(err)}
}

// answer carries out the calls that only read something or discard an action.
func (s *server) answer(ctx context.Context, m frame.Message) answer {
	switch m.Kind {
	case kindIsOpen:
		open, err := s.at.Running(ctx, string(m.Body))
		return answer{Open: open, Error: encodeError(err)}
	case kindDiscard:
		return answer{Error: encodeError(s.at.Discard(ctx, string(m.Body)))}
	default: // kindResolve
		image, err := s.at.Resolve(ctx, string(m.Body))
		return answer{Image: &image, Error: encodeError(err)}
	}
}
