//go:build !race

package protocol_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"testing"

	"deployster/protocol"
)

// plain is a type without secrets.
type plain struct{}

type plainConfig struct {
	Name string `json:"name"`
	Zone string `json:"zone,omitempty"`
}

func (plain) Read(_ context.Context, c *protocol.Call[plainConfig, plainConfig]) (*plainConfig, error) {
	return &plainConfig{Name: c.Config.Name, Zone: "eu"}, nil
}

func (plain) Write(context.Context, *protocol.Call[plainConfig, plainConfig]) error { return nil }

// A query costs a worker no more than was measured, with 5 % of room. Counts do not depend on the machine.
func TestWorker_QueriesAllocateNoMore(t *testing.T) {
	const n, objects, size = 1000, 155, 14_700
	cost := func() (float64, float64) {
		var in bytes.Buffer
		for i := range n {
			fmt.Fprintf(&in, `{"id":%d,"args":["state"],"stdin":%s}`+"\n", i+1, input(`{"name":"x","zone":"eu"}`, `,"last_state":{"name":"x","zone":"eu"}`))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if code := protocol.Run(t.Context(), plain{}, protocol.About{Worker: true},
			protocol.Process{Args: []string{"worker"}, Stdin: &in, Stdout: io.Discard, Stderr: io.Discard}); code != 0 {
			t.Fatal(code)
		}
		runtime.ReadMemStats(&after)
		return float64(after.Mallocs-before.Mallocs) / n, float64(after.TotalAlloc-before.TotalAlloc) / n
	}
	cost() // what is made once is made by now
	made, sized := cost()
	t.Logf("%.1f objects, %.0f bytes", made, sized)
	if made > objects*1.05 || sized > size*1.05 {
		t.Errorf("%.1f objects and %.0f bytes a query, and may make %d and %d", made, sized, objects, size)
	}
}
