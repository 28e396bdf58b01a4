package sharedlog_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"deployster/internal/base/sharedlog"
)

// TestModel_RandomHistories runs random schedules of the calls of three processes
// over one store: answers that are lost, requests that arrive late, pauses of any
// length, takeovers at any moment, and processes that die. Nobody trusts a clock. No
// fact that was acknowledged may be lost, and none acknowledged after a takeover.
// DEPLOYSTER_LOG_HISTORIES says how many, DEPLOYSTER_LOG_SEED with which to begin.
func TestModel_RandomHistories(t *testing.T) {
	count, first := setting(t, "DEPLOYSTER_LOG_HISTORIES", 500), setting(t, "DEPLOYSTER_LOG_SEED", 1)
	var total tally
	for seed := first; seed < first+count; seed++ {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(uint64(seed))
			w.run(3, 14)
			if w.bad != nil {
				t.Fatalf("seed %d: %v\n%s", seed, w.bad, strings.Join(w.trace, "\n"))
			}
			total.add(w.tally)
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%+v", total)
	if total.Acked < count || total.Takeovers < count/4 || total.Refused < count/20 || total.Late < count/10 || total.Void < count/20 || total.Ended < count/20 || total.Marked < count/4 {
		t.Errorf("these histories show too little: %+v", total)
	}
}

// What random histories have found stays found. In 6643 somebody reads the log while it is
// compacted, and one who opens it too late has put his entry where the first one was: it is
// not damaged.
func TestModel_FoundHistories(t *testing.T) {
	for _, seed := range []uint64{6643} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(seed)
			w.run(3, 14)
			if w.bad != nil {
				t.Errorf("seed %d: %v\n%s", seed, w.bad, strings.Join(w.trace, "\n"))
			}
		})
	}
}

func setting(t *testing.T, name string, usual int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// tally counts what happened, to see that the histories are hard.
type tally struct{ Acked, Takeovers, Refused, Late, Void, Compacted, Calls, Ended, Marked int }

func (t *tally) add(o tally) {
	t.Acked += o.Acked
	t.Takeovers += o.Takeovers
	t.Refused += o.Refused
	t.Late += o.Late
	t.Void += o.Void
	t.Compacted += o.Compacted
	t.Calls += o.Calls
	t.Ended += o.Ended
	t.Marked += o.Marked
}

// call is a call of the store that waits for its turn.
type call struct {
	process int
	name    string
	do      func()
	done    chan struct{}
}

// world is a store whose calls happen in an order that chance decides.
type world struct {
	one     sync.Mutex // of the calls of plain
	rnd     *rand.Rand
	objects map[string][]byte
	mu      sync.Mutex // of all that follows, and of objects
	waiting []*call
	late    []func() // requests whose sender has given up on them
	alive   int      // processes that have not come to their end
	rounds  int

	holds   map[string]uint64 // living claims that may hold the log, by the number of their entry: all processes are on one machine
	killed  map[string]bool   // claims whose processes were ended
	entered uint64            // of the last holder that has ended the earlier ones

	opens  []opening
	closed map[uint64]string // claims, by the numbers at which they were closed
	stale  map[string]bool   // ids of entries that came after a takeover
	acked  map[string]bool
	trace  []string
	bad    error
	tally
}

type opening struct {
	n     uint64
	claim string
}

func newWorld(seed uint64) *world {
	return &world{rnd: rand.New(rand.NewPCG(seed, 19)), objects: map[string][]byte{}, holds: map[string]uint64{}, killed: map[string]bool{}, closed: map[uint64]string{}, stale: map[string]bool{}, acked: map[string]bool{}}
}

func (w *world) fail(format string, args ...any) {
	if w.bad == nil {
		w.bad = fmt.Errorf(format, args...)
		w.rounds = 0
	}
}

// run lets processes work, one call at a time.
func (w *world) run(processes, rounds int) {
	w.rounds, w.alive = rounds, processes
	for i := range processes {
		rnd := rand.New(rand.NewPCG(w.rnd.Uint64(), uint64(i)))
		go func() {
			p := &process{world: w, number: i, rnd: rnd}
			for more := true; more; {
				p.round()
				p.locked(func() { more = w.rounds > 0 })
			}
			p.locked(func() { w.alive-- })
		}()
	}
	favourite, burst := 0, 0
	for {
		synctest.Wait()
		w.mu.Lock()
		if w.alive == 0 {
			w.mu.Unlock()
			break
		}
		idle := w.step(processes, &favourite, &burst)
		w.mu.Unlock()
		if idle {
			time.Sleep(time.Millisecond)
		}
	}
	for w.rnd.IntN(3) > 0 && len(w.late) > 0 {
		w.late[0]()
		w.late = w.late[1:]
	}
	w.settled()
}

// step lets one call happen. It reports whether there was none.
func (w *world) step(processes int, favourite, burst *int) (idle bool) {
	if len(w.late) > 0 && w.rnd.IntN(12) == 0 {
		i := w.rnd.IntN(len(w.late))
		w.late[i]()
		w.late = slices.Delete(w.late, i, i+1)
		return false
	}
	if len(w.waiting) == 0 {
		return true
	}
	// One process goes on for a while, so that the others pause.
	if *burst--; *burst < 0 {
		*favourite, *burst = w.rnd.IntN(processes), []int{1, 1, 1, 5, 20, 60}[w.rnd.IntN(6)]
	}
	slices.SortFunc(w.waiting, func(a, b *call) int { return strings.Compare(a.name, b.name) })
	i := slices.IndexFunc(w.waiting, func(c *call) bool { return c.process == *favourite })
	if i < 0 {
		i, *burst = w.rnd.IntN(len(w.waiting)), 0
	}
	c := w.waiting[i]
	w.waiting = slices.Delete(w.waiting, i, i+1)
	w.Calls++
	c.do()
	close(c.done)
	return false
}

// settled looks at what is in the store in the end.
func (w *world) settled() {
	l := &sharedlog.Log{Store: plain{w}, Clock: bubble{}, Timing: sharedlog.Timing{Call: time.Hour, Poll: time.Millisecond}}
	facts, err := read(context.Background(), l)
	if err != nil {
		w.fail("it cannot be read in the end: %w", err)
		return
	}
	w.check("in the end", facts)
	w.damage(l)
}

// damage changes the newest entry or its loss, which a reader must notice: a changed bit always, a loss if the log was closed.
func (w *world) damage(l *sharedlog.Log) {
	key := w.newest()
	whole, there := w.objects[key]
	if !there {
		return
	}
	notice := func(what string) {
		if _, err := l.View(context.Background()); !errors.Is(err, sharedlog.ErrDamaged) {
			w.fail("%s is not noticed: %v", what, err)
		}
	}
	changed := slices.Clone(whole)
	bit := w.rnd.IntN(8 * len(changed))
	changed[bit/8] ^= 1 << (bit % 8)
	w.objects[key] = changed
	notice(fmt.Sprintf("bit %d of %s", bit, key))
	if marks := w.list("log/tip-" + strings.TrimPrefix(key, "log/")); len(marks) > 0 {
		w.Marked++
		delete(w.objects, key)
		notice("the loss of " + key)
	}
	w.objects[key] = whole
}

// check wants all that was acknowledged among facts.
func (w *world) check(when string, facts map[string]bool) {
	for f := range w.acked {
		if !facts[f] {
			w.fail("%s %s is lost, which was acknowledged", when, f)
		}
	}
}

// read gives the facts that a log holds.
func read(ctx context.Context, l *sharedlog.Log) (map[string]bool, error) {
	v, err := l.View(ctx)
	if err != nil {
		return nil, err
	}
	return facts(ctx, l, v)
}

func facts(ctx context.Context, l *sharedlog.Log, v *sharedlog.View) (map[string]bool, error) {
	out := map[string]bool{}
	text := ""
	if v.State.N > 0 {
		data, err := l.Fetch(ctx, v.State.States[0])
		if err != nil {
			return nil, err
		}
		text = string(data)
	}
	for _, f := range strings.Fields(text + string(v.Journal)) {
		out[f] = true
	}
	return out, nil
}

// process opens the log again and again.
type process struct {
	*world
	number int
	rnd    *rand.Rand
	facts  int
}

// locked does something with what the processes share.
func (p *process) locked(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do()
}

func (p *process) log() *sharedlog.Log {
	gone := time.Duration(0) // it takes over at once
	if p.rnd.IntN(5) > 0 {
		gone = time.Hour
	}
	return &sharedlog.Log{Store: turns{p}, Clock: bubble{}, Timing: sharedlog.Timing{Gone: gone, Patience: 1000 * time.Hour, Call: 1000 * time.Hour,
		Poll: time.Millisecond}}
}

// round is one life of the process: it opens the log, records facts, and closes it,
// dies, or finds out that it was taken over.
func (p *process) round() {
	ctx, l := context.Background(), p.log()
	claim := fmt.Sprintf("p%d-%d", p.number, p.rnd.Uint64())
	c, err := l.Open(ctx, sharedlog.Options{By: sharedlog.By{Command: "test", PID: p.number}, Claim: claim, Wait: time.Duration(p.rnd.IntN(20)) * time.Millisecond,
		Holds: func(n uint64) error { p.locked(func() { p.holds[claim] = n }); return nil }})
	if errors.Is(err, sharedlog.ErrHeld) {
		return
	}
	if err != nil {
		p.locked(func() { p.fail("process %d cannot open: %w", p.number, err) })
		return
	}
	p.locked(func() {
		p.rounds--
		if c.Took() != "" {
			p.Takeovers++
		}
	})
	defer p.locked(func() { delete(p.holds, claim) })
	if !p.enter(c) {
		return
	}
	known, err := facts(ctx, l, c.View())
	if err != nil {
		// Another may have taken over and compacted meanwhile: then nothing can be
		// appended.
		if _, now := c.Append(sharedlog.Entry{Kind: sharedlog.KindAlive}); now == nil {
			p.locked(func() { p.fail("process %d holds the log and cannot read it: %w", p.number, err) })
		}
		return
	}
	for range p.rnd.IntN(5) {
		p.facts++
		f := fmt.Sprintf("p%d-%d", p.number, p.facts)
		e, err := c.Append(sharedlog.Entry{Kind: sharedlog.KindJournal, Run: c.ID(), Body: []byte(f + "\n")})
		if !p.appended(c, err) {
			return
		}
		p.locked(func() {
			if p.stale[e.ID] {
				p.fail("process %d acted on %s after it had been taken over", p.number, f)
			}
			p.acked[f], known[f] = true, true
			p.Acked++
		})
		if !p.begin(c, f) {
			return
		}
		if p.rnd.IntN(12) == 0 {
			return // it dies
		}
	}
	s, err := c.Put(uint64(len(known)), []byte(strings.Join(slices.Sorted(maps.Keys(known)), "\n")+"\n"), false)
	if err != nil {
		p.locked(func() { p.fail("process %d cannot store: %w", p.number, err) })
		return
	}
	if _, err = c.Append(sharedlog.Entry{Kind: sharedlog.KindState, States: []sharedlog.State{s}}); !p.appended(c, err) {
		return
	}
	if p.rnd.IntN(12) == 0 {
		return // it dies
	}
	_ = c.Close(ctx)
}

// enter ends the earlier holders on this machine. It reports whether the process itself was not ended meanwhile.
func (p *process) enter(c *sharedlog.Claim) bool {
	lives := true
	turns{p}.turn("end the earlier ones", func() {
		n := c.View().Tip.N
		if lives = !p.killed[c.ID()]; !lives {
			return
		}
		for claim, at := range p.holds {
			if at > 0 && at < n {
				p.killed[claim] = true
				delete(p.holds, claim)
				p.Ended++
			}
		}
		p.entered = max(p.entered, n)
	})
	return lives
}

// begin begins the program of a recorded action, after a pause of any length. It reports whether the process was not ended meanwhile.
func (p *process) begin(c *sharedlog.Claim, f string) bool {
	lives := true
	turns{p}.turn("begin "+f, func() {
		if lives = !p.killed[c.ID()]; lives && c.View().Tip.N < p.entered {
			p.fail("process %d begins the program of %s after a later holder has begun to act", p.number, f)
		}
	})
	return lives
}

// appended reports whether the process still holds the log. Who was not taken over must
// not be told so.
func (p *process) appended(c *sharedlog.Claim, err error) bool {
	if err == nil {
		return true
	}
	p.locked(func() {
		p.Refused++
		if !errors.Is(err, sharedlog.ErrTaken) {
			p.fail("process %d cannot append: %w", p.number, err)
		} else if !p.after(c.ID()) {
			p.fail("process %d was told that it was taken over, and nobody had: %w", p.number, err)
		}
	})
	return false
}

// after reports whether another has opened the log since a claim began.
func (w *world) after(claim string) bool {
	return len(w.opens) > 0 && w.opens[len(w.opens)-1].claim != claim
}
