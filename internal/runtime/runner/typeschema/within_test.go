package typeschema

import (
	"sync"
	"testing"
	"time"

	"deployster/internal/base/parallel"
	"deployster/internal/base/proc"
	"deployster/protocol"
)

// What takes long because the machine does other things is waited for: only the
// processor's time counts. This test waits, beside no other, and has nearly none.
func TestRunWithin_WaitingIsNotWork(t *testing.T) {
	const limit = 500 * time.Millisecond
	got, inTime := runWithin(new(parallel.Pool), limit, func() int { time.Sleep(2 * limit); return 1 })
	if got != 1 || !inTime {
		t.Errorf("%d, in time: %v", got, inTime)
	}
}

// The checks of thousands of resources wait for each other, and none of that is time of theirs.
func TestCheckConfig_WaitsForOthers(t *testing.T) {
	c := &Checker{limit: time.Second}
	ty := protocol.Type{Reference: "acme/file:1", ConfigSchema: []byte(`{"type":"object","properties":{"a":{"type":"integer"}}}`)}
	s, err := c.compiled(ty.ConfigSchema)
	if err != nil {
		t.Fatal(err)
	}
	s.compiled.mu.Lock()
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if got := c.CheckConfig(ty, []byte(`{"a":1}`), nil); len(got) != 0 {
				t.Errorf("%+v", got)
			}
		})
	}
	for began := proc.ProcessorTime(); proc.ProcessorTime()-began < 1500*time.Millisecond; {
		continue // what others have of the processor meanwhile
	}
	s.compiled.mu.Unlock()
	wg.Wait()
}
