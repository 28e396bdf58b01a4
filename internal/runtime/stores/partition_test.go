package stores_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deployster/internal/base/sharedlog"
	"deployster/internal/testkit/services"
)

// TestPartitions_LoseNoAcknowledgedFact lets machines use one log in a real store, each behind a network of its
// own that loses answers, goes and comes back at random moments. They die, and sleep
// longer than others wait. Nothing that was acknowledged may be lost, and nobody may
// act after he was taken over. DEPLOYSTER_PARTITIONS says for how long, as 1h.
func TestPartitions_LoseNoAcknowledgedFact(t *testing.T) {
	span := 6 * time.Second
	if text := os.Getenv("DEPLOYSTER_PARTITIONS"); text != "" {
		var err error
		if span, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range services.Credentials() {
		t.Setenv(name, value)
	}
	t.Run("PostgreSQL", func(t *testing.T) {
		address := services.Postgres(t)
		partitions(t, span, address, func(via string) sharedlog.Store {
			return connect(t, "postgres://deploy@"+via+"/state?sslmode=disable")
		})
	})
	t.Run("S3", func(t *testing.T) {
		address := services.S3(t)
		partitions(t, span, address, func(via string) sharedlog.Store {
			return connect(t, "s3://state/p?region=eu-central-1&path_style=true&endpoint=http://"+via)
		})
	})
	t.Run("directory", func(t *testing.T) {
		root := t.TempDir()
		partitions(t, span/3, "", func(string) sharedlog.Store { return connect(t, "dir://"+root+"/state") })
	})
}

// history is what an observer knows who sees all machines.
type history struct {
	mu    sync.Mutex
	acked map[string]uint64 // facts, and which entries they are
	opens []opened
	bad   []string

	takeovers, refused, away, held int
}

// opened is a claim, and what its holder has read, up to an entry of the log.
type opened struct {
	claim string
	tip   uint64
	facts map[string]bool
}

// misses says that a claim does not see what was acknowledged before the entry up to
// which it has read. When either was told here says nothing: a holder that is slow may
// have been followed by another one meanwhile.
func (o opened) misses(fact string, at uint64) bool { return at <= o.tip && !o.facts[fact] }

// sees notes that a claim has begun, with what it read.
func (h *history) sees(o opened) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for f, at := range h.acked {
		if o.misses(f, at) {
			h.bad = append(h.bad, fmt.Sprintf("claim %s, which has read up to %d, does not see %s, which is %d", o.claim, o.tip, f, at))
		}
	}
	o.facts = maps.Clone(o.facts)
	h.opens = append(h.opens, o)
}

// acks notes that a claim may act upon a fact, which is an entry of the log.
func (h *history) acks(claim, fact string, at uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for f, taken := range h.acked {
		if taken == at {
			h.bad = append(h.bad, fmt.Sprintf("%s and %s are both the entry %d", f, fact, at))
		}
	}
	h.acked[fact] = at
	for _, o := range h.opens {
		if o.misses(fact, at) {
			h.bad = append(h.bad, fmt.Sprintf("%s, which is %d, was acknowledged to %s, and %s has read up to %d without it", fact, at, claim, o.claim, o.tip))
		}
	}
}

func (h *history) count(n *int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	*n++
}

// patience is that of machines which wait for little. Where a store is slow they wait for
// more: pace is how much.
func patience(pace int) sharedlog.Timing {
	unit := time.Duration(pace) * time.Millisecond
	return sharedlog.Timing{Alive: 60 * unit, Gone: 300 * unit, Patience: 1500 * unit, Call: 400 * unit, Poll: 20 * unit}
}

// paceOf is how much slower than a usual one a store is whose network is in order. A
// call that is not answered in time says nothing where none would be.
func paceOf(t *testing.T, s sharedlog.Store) int {
	t.Helper()
	begun := time.Now()
	c, err := sharedlog.New(s, sharedlog.DefaultTiming()).Open(t.Context(), sharedlog.Options{By: sharedlog.By{Command: "test", PID: 99}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return 1 + int(time.Since(begun)/(400*time.Millisecond))
}

func partitions(t *testing.T, span time.Duration, address string, store func(via string) sharedlog.Store) {
	const machines = 3
	h := &history{acked: map[string]uint64{}}
	s := store(address)
	defer func() { _ = s.Close() }()
	pace := paceOf(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), 20*span) // on a slow machine less happens in the same time
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() {
		defer cancel()
		for begun := time.Now(); ctx.Err() == nil && (time.Since(begun) < span || !h.enough(span, address != "")); {
			time.Sleep(50 * time.Millisecond)
		}
	})
	for m := range machines {
		rnd := rand.New(rand.NewPCG(rand.Uint64(), uint64(m)))
		via := ""
		if address != "" {
			proxy := services.NewProxy(t, address)
			via = proxy.Address
			trouble := rand.New(rand.NewPCG(rand.Uint64(), uint64(m)))
			wg.Go(func() { bad(ctx, proxy, trouble, pace) })
		}
		s := store(via)
		wg.Go(func() {
			for ctx.Err() == nil {
				life(ctx, h, s, m, rnd, pace)
			}
			_ = s.Close()
		})
	}
	wg.Wait()
	l := sharedlog.New(s, sharedlog.DefaultTiming())
	v, err := l.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	facts, err := factsOf(t.Context(), l, v)
	if err != nil {
		t.Fatal(err)
	}
	h.sees(opened{"in the end", v.Tip.N, facts})
	t.Logf("pace %d: %d facts, %d opens, %d takeovers, %d refused, %d away, %d held", pace, len(h.acked), len(h.opens), h.takeovers, h.refused, h.away, h.held)
	for _, b := range h.bad {
		t.Error(b)
	}
	if !h.enough(span, address != "") {
		t.Error("too little has happened")
	}
}

// enough says whether something has happened that could have gone wrong.
func (h *history) enough(span time.Duration, network bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.acked) >= 10 && (span < time.Minute || h.takeovers >= 10 && (!network || h.refused+h.away >= 10))
}

// bad is a network in trouble.
func bad(ctx context.Context, p *services.Proxy, rnd *rand.Rand, pace int) {
	pause := func(most int) {
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(pace*rnd.IntN(most)) * time.Millisecond):
		}
	}
	for ctx.Err() == nil {
		pause(1200)
		switch rnd.IntN(4) {
		case 0:
			p.Cut()
		case 1:
			p.Deafen(true)
			pause(600)
			p.Cut()
			p.Deafen(false)
		case 2:
			p.Silence(true)
			pause([]int{100, 700, 2500}[rnd.IntN(3)])
			p.Silence(false) // what was under way arrives late
		case 3:
			p.Delay(time.Duration(rnd.IntN(60)) * time.Millisecond)
		}
	}
	p.Delay(0)
}

func factsOf(ctx context.Context, l *sharedlog.Log, v *sharedlog.View) (map[string]bool, error) {
	text := string(v.Journal)
	if v.State.N > 0 {
		data, err := l.Fetch(ctx, v.State.States[0])
		if err != nil {
			return nil, err
		}
		text += "\n" + string(data)
	}
	facts := map[string]bool{}
	for _, f := range strings.Fields(text) {
		facts[f] = true
	}
	return facts, nil
}

// life is one command of a machine.
func life(ctx context.Context, h *history, s sharedlog.Store, m int, rnd *rand.Rand, pace int) {
	timing := patience(pace)
	l := sharedlog.New(s, timing)
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	c, err := l.Open(work, sharedlog.Options{By: sharedlog.By{Command: "test", PID: m}, Wait: 50 * timing.Poll})
	switch {
	case errors.Is(err, sharedlog.ErrHeld):
		h.count(&h.held)
		return
	case err != nil:
		h.count(&h.away)
		time.Sleep(10 * time.Millisecond)
		return
	}
	if c.Took() != "" {
		h.count(&h.takeovers)
	}
	defer c.Abandon() // nothing if it was closed
	facts, err := factsOf(work, l, c.View())
	if err != nil {
		h.count(&h.away)
		return
	}
	h.sees(opened{c.ID(), c.View().Tip.N, facts})
	for n := range 1 + rnd.IntN(6) {
		f := fmt.Sprintf("%d-%s-%d", m, c.ID(), n)
		e, err := c.Append(sharedlog.Entry{Kind: sharedlog.KindJournal, Body: []byte(f + "\n")})
		if err != nil {
			h.count(&h.refused)
			return
		}
		h.acks(c.ID(), f, e.N)
		facts[f] = true
		switch rnd.IntN(20) {
		case 0:
			return // it dies
		case 1:
			c.Abandon() // it sleeps: nobody hears of it
			time.Sleep(timing.Gone + timing.Gone/2)
		}
	}
	state, err := c.Put(uint64(len(facts)), []byte(strings.Join(slices.Sorted(maps.Keys(facts)), "\n")), false)
	if err == nil {
		_, err = c.Append(sharedlog.Entry{Kind: sharedlog.KindState, States: []sharedlog.State{state}})
	}
	if err != nil {
		h.count(&h.refused)
		return
	}
	_ = c.Close(work)
}
