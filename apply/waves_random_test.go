package apply_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"deployster/apply"
	"deployster/apply/turns"
)

// rules watches an apply in waves, over all runs of its plan, and reports what breaks a rule.
type rules struct {
	f      *fleet
	sizes  []int
	most   int      // hosts that may fail
	begun  []string // in their order
	soaked map[string]bool
	failed map[string]bool
	before map[string]int // how many hosts had failed when a resource was queried: it may begin at any time after it
	gate   string         // the host after whose wave the gate fails; "" = never
	closed bool
}

// waveOf returns the wave in which the n-th host begins, and how many begin before it.
func (r *rules) waveOf(n int) (wave, before int) {
	for sum := 0; ; wave++ {
		size := r.sizes[min(wave, len(r.sizes)-1)]
		if n <= sum+size {
			return wave, sum
		}
		sum += size
	}
}

// breaks returns the rule that the begin of a further host breaks; "" = none.
func (r *rules) breaks(host, addr string) string {
	r.begun = append(r.begun, host)
	wave, before := r.waveOf(len(r.begun))
	for _, earlier := range r.begun[:before] {
		switch {
		case !r.failed[earlier] && (r.f.world.Things()[earlier+"1"] == "" || r.f.world.Things()[earlier+"2"] == ""):
			return fmt.Sprintf("%s begins in wave %d, and %s is not done", host, wave+1, earlier)
		case !r.soaked[earlier]:
			return fmt.Sprintf("%s begins in wave %d, and %s was not seen after a soak", host, wave+1, earlier)
		}
	}
	if r.most > 0 && r.before[addr] >= r.most {
		return fmt.Sprintf("%s begins, and %d hosts have failed", host, r.before[addr])
	}
	if r.closed {
		return host + " begins, and the gate has failed"
	}
	return ""
}

// event follows one event.
func (r *rules) event(t *testing.T, ev apply.Event) {
	switch ev := ev.(type) {
	case apply.Checking:
		r.before[ev.Address] = len(r.failed)
	case apply.ActionStarted:
		if slices.Contains(r.begun, ev.Host) {
			return
		}
		if broken := r.breaks(ev.Host, ev.Address); broken != "" {
			t.Error(broken)
		}
	case apply.ResourceEnded:
		if ev.Report.Status == apply.Error {
			r.failed[ev.Address[:1]] = true
		}
	case apply.WaveEnded:
		for _, host := range ev.Wave.Hosts {
			r.soaked[host] = true
		}
		r.closed = r.closed || ev.Closed
		if ev.Closed && !slices.Contains(r.begun, r.gate) {
			t.Errorf("the gate has failed before %s was begun", r.gate)
		}
	}
}

// However hosts fail, break while they soak, stop at a gate, and whenever the process dies: no host
// begins before all earlier waves are done and seen again, and none after it may not.
func TestWaves_KeepTheirRules(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 7))
			hosts := "abcdefg"[:2+random.IntN(6)]
			r := &rules{soaked: map[string]bool{}, failed: map[string]bool{}, before: map[string]int{}, most: random.IntN(3)}
			f := newFleet(t, hosts, "1")
			f.engine.waves.Sizes, f.engine.waves.Soak, r.f = nil, time.Microsecond, f
			for range 1 + random.IntN(3) {
				n := 1 + random.IntN(3)
				r.sizes, f.engine.waves.Sizes = append(r.sizes, n), append(f.engine.waves.Sizes, turns.Size{N: n})
			}
			pick := func() string { i := random.IntN(len(hosts)); return hosts[i : i+1] }
			var more []string
			if random.IntN(3) == 0 {
				r.gate = pick()
				more = append(more, gateOf("site", "resource."+r.gate+"1.state.v > 1"))
			}
			if random.IntN(2) == 0 {
				f.world.Fail(pick()+"1", true)
			}
			breaks := map[int]string{1 + random.IntN(2): pick() + "2"}
			f.opts.MaxFailedHosts, f.opts.KeepGoing = r.most, random.IntN(4) == 0
			f.opts.Parallelism = 1
			f.opts.Events = func(ev apply.Event) {
				f.mu.Lock()
				defer f.mu.Unlock()
				if soak, is := ev.(apply.WaveSoaking); is && slices.Contains(soak.Hosts, breaks[soak.Number][:min(1, len(breaks[soak.Number]))]) {
					f.world.Set(breaks[soak.Number], `{"v":7}`)
				}
				if !f.dead.Load() {
					r.event(t, ev)
				}
			}
			p, err := f.plan(f.source(1, more...))
			if err != nil {
				t.Fatal(err)
			}
			if !f.dies(t, 1+random.IntN(6*len(hosts)), p) {
				return
			}
			report, err := f.apply(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			for host, res := range report.Hosts {
				if begun := slices.Contains(r.begun, host); res.Status == apply.NotStarted && begun && !strings.Contains(res.Reason, host) {
					t.Errorf("%s: %+v", host, res)
				}
			}
		})
	}
}
