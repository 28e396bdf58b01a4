package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"deployster/internal/base/sharedlog"
	"deployster/state/exports"
	"deployster/state/place"
)

// publisher is a state that publishes, as random commands use it: each may die at any of its writes, or be suspended there, be taken
// over, and go on later.
type publisher struct {
	t       *testing.T
	rnd     *rand.Rand
	at      func(h *hazard) Place
	shared  bool
	values  map[uint64]string // the exported output of each committed state, by serial
	seen    uint64            // the highest serial that a reader has used
	history []string
}

// hazard is what happens to one command: at one of its calls it dies, before or after it is carried out, or waits.
type hazard struct {
	calls   atomic.Int64
	at      int64
	carried bool
	waits   chan struct{} // nil = it dies
	reached chan struct{}
}

func (h *hazard) call(do func() error) error {
	n := h.calls.Add(1)
	switch {
	case h.at == 0 || n < h.at || h.waits != nil && n > h.at:
		return do()
	case n == h.at && h.waits != nil:
		close(h.reached)
		<-h.waits
		return do()
	case n == h.at && h.carried:
		_ = do()
	}
	return fmt.Errorf("%w: %w", sharedlog.ErrDenied, errDead)
}

// endangered is a store whose calls are those of a command with a hazard.
type endangered struct {
	sharedlog.Store
	*hazard
}

func (e endangered) Create(ctx context.Context, key string, data []byte) error {
	return e.call(func() error { return e.Store.Create(context.WithoutCancel(ctx), key, data) })
}

func (e endangered) Get(ctx context.Context, key string) (data []byte, err error) {
	err = e.call(func() error { data, err = e.Store.Get(context.WithoutCancel(ctx), key); return err })
	return data, err
}

func (e endangered) List(ctx context.Context, prefix string) (keys []string, err error) {
	err = e.call(func() error { keys, err = e.Store.List(context.WithoutCancel(ctx), prefix); return err })
	return keys, err
}

func (e endangered) Delete(ctx context.Context, key string) error {
	return e.call(func() error { return e.Store.Delete(context.WithoutCancel(ctx), key) })
}

// fileAt is a state file whose writes are those of a command with a hazard.
type fileAt struct {
	File
	*hazard
}

func (f fileAt) Find() (place.Found, error) {
	found, err := f.File.Find()
	found.Backend = writes{found.Backend, f.hazard}
	return found, err
}

type writes struct {
	place.Backend
	*hazard
}

func (w writes) Write(serial uint64, data []byte) error {
	return w.call(func() error { return w.Backend.Write(serial, data) })
}

func (w writes) WriteCopy(serial uint64, data []byte) error {
	return w.call(func() error { return w.Backend.WriteCopy(serial, data) })
}

func (w writes) WriteOutputs(serial uint64, data []byte) error {
	return w.call(func() error { return w.Backend.WriteOutputs(serial, data) })
}

func (w writes) RemoveJournal() error { return w.call(w.Backend.RemoveJournal) }

func (p *publisher) fail(format string, args ...any) {
	p.t.Helper()
	p.t.Fatalf("%s\nafter %q", fmt.Sprintf(format, args...), p.history)
}

// command applies a new value, or edits the state. It returns whether it believes that all was recorded.
func (p *publisher) command(h *hazard, value string, edit bool) bool {
	s, err := Open(p.t.Context(), p.at(h), Options{Command: "test", Wait: 10 * time.Second})
	if err != nil {
		return false
	}
	defer func() { _ = s.Close() }()
	if edit {
		return s.Replace(s.Snapshot()) == nil
	}
	s.Publishes(&Exports{}, nil)
	j, err := s.Begin(NewID(), s.Snapshot().Lineage)
	if err != nil {
		return false
	}
	set := j.Outputs(map[string]Output{"v": {Value: json.RawMessage(fmt.Sprintf("%q", value)), Export: true}, "own": {Value: json.RawMessage(`1`)}})
	return j.Finish(StatusOK) == nil && set == nil
}

// committed notes what the state has now, and returns its serial.
func (p *publisher) committed() uint64 {
	at, err := storageOf(p.at(&hazard{}))
	ok(p.t, err)
	s, err := at.snapshot() // without a journal that is still to be merged
	if err != nil {
		p.fail("the state cannot be read: %v", err)
	}
	if s.Exports != nil {
		value := string(s.Outputs["v"].Value)
		if was, known := p.values[s.Serial]; known && was != value {
			p.fail("serial %d had %s and has %s", s.Serial, was, value)
		}
		p.values[s.Serial] = value
	}
	return s.Serial
}

// read is a reader of another project: it gets what is committed, and nothing older than before.
func (p *publisher) read(known map[uint64]string, serial uint64) exports.Document {
	d, err := LoadOutputs(p.at(&hazard{}), nil)
	switch {
	case errors.Is(err, os.ErrNotExist) && p.seen == 0:
		return d
	case err != nil:
		p.fail("a reader fails: %v", err)
	case d.Serial > serial:
		p.fail("serial %d is published, and the state has %d", d.Serial, serial)
	case d.Serial < p.seen:
		p.fail("a reader got serial %d after %d", d.Serial, p.seen)
	case known[d.Serial] != "" && string(d.Outputs["v"].Value) != known[d.Serial]:
		p.fail("serial %d is published with %s, and had %s", d.Serial, d.Outputs["v"].Value, known[d.Serial])
	case len(d.Outputs) > 1:
		p.fail("it publishes %v", d.Outputs)
	}
	p.seen = d.Serial
	return d
}

// step runs one command, which may die or be suspended while another one takes over, and then checks what is published.
func (p *publisher) step(i int) {
	most := 6 // writes of a file
	if p.shared {
		most = 60 // calls of a store
	}
	h := &hazard{at: int64(p.rnd.IntN(most)), carried: p.rnd.IntN(2) == 0, reached: make(chan struct{})}
	value, edit := fmt.Sprintf("v%d", i), p.rnd.IntN(4) == 0
	p.history = append(p.history, fmt.Sprintf("%s edit=%v at=%d carried=%v", value, edit, h.at, h.carried))
	whole := false
	if p.shared && h.at > 0 && p.rnd.IntN(3) == 0 {
		h.waits = make(chan struct{})
		ended := make(chan struct{})
		go func() { defer close(ended); p.command(h, value, edit) }()
		select {
		case <-h.reached:
			p.history[len(p.history)-1] += " suspended"
			whole = p.command(&hazard{}, value+"b", false)
		case <-ended:
		}
		p.read(nil, p.committed())
		close(h.waits)
		<-ended
	} else {
		whole = p.command(h, value, edit)
	}
	serial := p.committed()
	if d := p.read(p.values, serial); whole && h.waits == nil && p.values[serial] != "" && d.Serial != serial {
		p.fail("the command ended, the state has serial %d, and %d is published", serial, d.Serial)
	}
	if p.rnd.IntN(3) > 0 {
		return
	}
	s, err := Open(p.t.Context(), p.at(&hazard{}), Options{Command: "test", Wait: 10 * time.Second}) // changes nothing
	if err != nil {
		p.fail("the next command cannot open it: %v", err)
	}
	ok(p.t, s.Close())
	serial = p.committed()
	if d := p.read(p.values, serial); p.values[serial] != "" && d.Serial != serial {
		p.fail("the next command left serial %d, of %d, and warned %v", d.Serial, serial, s.Warnings())
	}
}

// Random commands die at any write, or are suspended there: a reader never gets what was not committed, nor anything older than what
// it had, and the next command publishes what an earlier one could not.
func TestModel_OutputsFollowTheState(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	for n := range 40 {
		t.Run(fmt.Sprintf("file/%d", n), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s.json")
			publish(t, seed, n, 25, false, func(h *hazard) Place { return fileAt{File(path), h} })
		})
	}
	for n := range 8 {
		t.Run(fmt.Sprintf("dir/%d", n), func(t *testing.T) {
			t.Parallel()
			publish(t, seed, n, 15, true, inStore(t, inDir()))
		})
	}
}

// The same holds with a real PostgreSQL and a real S3.
func TestModel_OutputsFollowTheStateOnServers(t *testing.T) {
	histories, steps := 1, 4
	if os.Getenv("DEPLOYSTER_LONG") != "" {
		histories, steps = 10, 12
	}
	seed := rand.Uint64()
	for _, kind := range onServers(t) {
		for n := range histories {
			t.Run(fmt.Sprintf("%s/%d", kind.name, n), func(t *testing.T) {
				t.Parallel()
				publish(t, seed, n, steps, true, inStore(t, kind))
			})
		}
	}
}

// publish runs one random history.
func publish(t *testing.T, seed uint64, n, steps int, shared bool, at func(h *hazard) Place) {
	p := &publisher{t: t, rnd: rand.New(rand.NewPCG(seed, uint64(n))), values: map[uint64]string{}, history: []string{fmt.Sprint(seed)},
		at: at, shared: shared}
	for i := range steps {
		p.step(i)
	}
}

// inStore returns what opens one state in a store, for commands with hazards.
func inStore(t *testing.T, kind storeKind) func(h *hazard) Place {
	store := kind.empty(t)
	return func(h *hazard) Place {
		return &Remote{URL: kind.name + ":///shop", Machine: NewID(), Connect: func() (*sharedlog.Log, error) {
			return sharedlog.New(endangered{store(), h}, sharedlog.Timing{Gone: kind.slow * 20 * time.Millisecond, Patience: time.Second,
				Call: 30 * time.Second, Poll: time.Millisecond}), nil
		}}
	}
}
