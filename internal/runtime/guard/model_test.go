package guard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"strings"
	"testing"
	"time"

	"deployster/internal/runtime/runner"
)

func init() { often = time.Millisecond }

// world is a machine with a file and a service that reads it, a client and the process of a group.
// Time passes in steps.
type world struct {
	t    *testing.T
	rnd  *rand.Rand
	g    Guards
	d    dir
	k    *keeper
	now  time.Time
	boot string

	n       int    // resources; with one, it is the file and the service
	bad     bool   // the change locks the client out
	applied []bool // by resource
	live    bool   // the service runs with what locks the client out
	running string // the action that runs
	left    int    // of its steps
	steps   int
	far     bool // the far end lives
	reboots bool // it may still reboot
	fails   int  // the undo fails so many times
	undone  []string
	wrong   []string
	over    bool // the process of the group has ended
}

const groupKey = "0123abc"

var first = Holder{Lineage: "l", Epoch: 1, Run: "one"}

func newWorld(t *testing.T, root string, seed int64) *world {
	rnd := rand.New(rand.NewSource(seed))
	w := &world{t: t, rnd: rnd, now: time.Unix(1e9, 0), boot: "b1", n: 1 + rnd.Intn(2), bad: rnd.Float64() < .6, far: true, reboots: true}
	w.applied = make([]bool, w.n)
	nothing := func(context.Context, ...string) error { return nil }
	w.g = Guards{DataDir: root, Boot: w.boot, Units: Units{Program: "/p", DataDir: root, Dir: root + "/units", Systemctl: nothing}}
	var err error
	if w.d, err = w.g.at(groupKey); err != nil {
		t.Fatal(err)
	}
	w.start()
	return w
}

// start starts the process of the group, as its unit does.
func (w *world) start() {
	w.over = false
	w.k = newKeeper(w.d, w, w.boot, func(ctx context.Context) error { w.over = true; return w.g.Units.Remove(ctx, groupKey) })
	w.k.now = func() time.Time { return w.now }
}

func name(i int) string { return fmt.Sprintf("r%d", i) }

// Launch implements Host.
func (w *world) Launch(_ context.Context, s runner.Spec) (runner.Process, error) {
	if len(s.Stdin) > 0 {
		w.wrong = append(w.wrong, "the undo gets its input too early")
	}
	out, in := io.Pipe()
	return &undoProcess{w: w, address: s.Name, out: out, end: in}, nil
}

// Running implements Host.
func (w *world) Running(_ context.Context, id string) (bool, error) { return w.running == id, nil }

// End implements Host.
func (w *world) End(_ context.Context, id string) error {
	if w.running == id {
		w.running = ""
	}
	return nil
}

// undoProcess is an undo that waits for the end of its input.
type undoProcess struct {
	runner.Process
	w       *world
	address string
	out     *io.PipeReader
	end     *io.PipeWriter
	input   strings.Builder
	code    int
}

func (p *undoProcess) Stdin() io.WriteCloser       { return p }
func (p *undoProcess) Stdout() io.Reader           { return p.out }
func (p *undoProcess) Write(b []byte) (int, error) { return p.input.Write(b) }
func (p *undoProcess) Kill()                       { _ = p.end.Close() }

func (p *undoProcess) Close() error {
	p.code = p.w.undo(p.address)
	return p.end.Close()
}

func (p *undoProcess) Wait() (runner.Result, error) {
	return runner.Result{ExitCode: p.code, Stderr: []byte("it is broken\n")}, nil
}

func (w *world) undo(address string) int {
	if w.running != "" {
		w.wrong = append(w.wrong, "an undo runs beside an action")
	}
	if w.fails > 0 {
		w.fails--
		return 1
	}
	w.undone = append(w.undone, address)
	for i := range w.n {
		if address == name(i) {
			w.applied[i] = false
			w.read(i)
		}
	}
	return 0
}

// read has the service read the file, if a resource is the service.
func (w *world) read(i int) {
	if i == w.n-1 {
		w.live = w.bad && w.applied[0]
	}
}

// tick lets a second pass.
func (w *world) tick() {
	w.now = w.now.Add(time.Second)
	if w.running != "" {
		if w.left--; w.left <= w.steps/2 {
			i := int(w.running[1] - '0')
			w.applied[i] = true
			w.read(i)
		}
		if w.left <= 0 {
			if w.far {
				w.must(w.g.End(w.t.Context(), groupKey, w.running))
			}
			w.running = ""
		}
	}
	if w.reboots && w.rnd.Float64() < .02 {
		w.reboots, w.far, w.running, w.boot = false, false, "", "b2"
		w.read(w.n - 1)
		w.start()
	} else if w.rnd.Float64() < .05 {
		w.start() // it was killed
	}
	if !w.over {
		if _, err := w.k.step(w.t.Context()); err != nil {
			w.wrong = append(w.wrong, err.Error())
		}
	}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.t.Fatal(err)
	}
}

// cut ends the far end.
func (w *world) cut() {
	w.far = false
	w.must(w.d.change(w.t.Context(), func(r *Record) error {
		for i := range r.Actions {
			r.Actions[i].Started = ""
		}
		return nil
	}))
}

// apply is a client that applies a group. valid are the resources that it records as such.
func (w *world) apply() (valid []int, ended bool) {
	ctx, dies := w.t.Context(), w.rnd.Intn(40)
	died := func() bool { dies--; return dies == 0 }
	w.must(w.g.Arm(ctx, runner.Group{Key: groupKey, After: 6 * time.Second}, first))
	for i := range w.n {
		w.must(w.d.add(ctx, runner.Protection{Address: name(i), Order: i, Undo: runner.Spec{Name: name(i), Stdin: []byte("{}")}}))
	}
	w.must(ignoreBoot(w.k.step(ctx)))
	for i := range w.n {
		id := fmt.Sprintf("a%d", i)
		if err := w.g.Begin(ctx, groupKey, id, name(i), time.Minute); err != nil {
			break
		}
		w.steps = []int{1, 2, 9}[w.rnd.Intn(3)]
		w.running, w.left, w.far = id, w.steps, true
		for w.running == id {
			if died() {
				w.cut()
				return nil, false
			}
			w.tick()
		}
		if w.live && w.rnd.Float64() < .7 {
			w.cut()
		}
	}
	for range 60 {
		if died() {
			return nil, false
		}
		if w.tick(); w.live {
			continue
		}
		s, err := w.g.Confirm(groupKey)
		w.must(err)
		if w.rnd.Float64() < .2 { // the answer is lost
			w.tick()
			s, err = w.g.Read(groupKey)
			w.must(err)
		}
		switch s.Verdict {
		case runner.Confirmed:
			for i := range w.n {
				valid = append(valid, i)
			}
			return valid, true
		case runner.Undone, runner.Nothing:
			return nil, true
		}
	}
	return nil, false
}

func ignoreBoot(_ bool, err error) error { return err }

// again is the next holder of the state: what it sees, it records.
func (w *world) again() (valid []int) {
	for range w.rnd.Intn(8) {
		w.tick()
	}
	if w.live {
		return nil // it cannot be reached
	}
	done := make(chan error, 1)
	go func() { done <- w.g.Settle(w.t.Context(), Holder{Lineage: "l", Epoch: 2, Run: "two"}) }()
	for {
		select {
		case err := <-done:
			w.must(err)
			for i := range w.n {
				if w.applied[i] {
					valid = append(valid, i)
				}
			}
			return valid
		case <-time.After(2 * time.Millisecond):
			w.tick()
		}
	}
}

// memory returns a directory whose files need no disk, if there is one.
func memory(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "guard")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Whatever happens, nobody is locked out for ever, and nothing is recorded that is undone.
func TestModel_NobodyIsLockedOut(t *testing.T) {
	t.Parallel()
	root := memory(t)
	for seed := range int64(400) {
		w := newWorld(t, fmt.Sprintf("%s/%d", root, seed), seed)
		valid, ended := w.apply()
		if !ended || valid == nil {
			valid = w.again()
		}
		for range 90 {
			w.tick()
		}
		if w.live {
			w.wrong = append(w.wrong, "locked out for ever")
		}
		for _, i := range valid {
			if !w.applied[i] {
				w.wrong = append(w.wrong, fmt.Sprintf("%s is recorded as VALID, and undone", name(i)))
			}
		}
		if len(w.wrong) > 0 {
			t.Fatalf("seed %d, %d resources, bad %v: %q", seed, w.n, w.bad, w.wrong)
		}
		_ = os.RemoveAll(w.g.DataDir)
	}
}
