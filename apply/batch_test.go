package apply_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"deployster/apply"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// batching notes in which batch each action comes.
type batching struct {
	runner.Runner
	mu      sync.Mutex
	batches map[string][]string // the ID of the batch of each action of a type; "" = alone
}

func (b *batching) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	if s.Kind == runner.Action {
		id := ""
		if s.Batch != nil {
			id = s.Batch.ID
		}
		b.mu.Lock()
		b.batches[s.Reference] = append(b.batches[s.Reference], id)
		b.mu.Unlock()
	}
	return b.Runner.Run(ctx, s)
}

// packed returns how the actions of two types come, four of each.
func packed(t *testing.T) map[string][]string {
	t.Helper()
	e := newEngine(t.TempDir())
	e.opts.Parallelism = 20
	b := &batching{Runner: e.fake, batches: map[string][]string{}}
	e.runner = b
	var source strings.Builder
	for _, name := range []string{"a", "b"} {
		s := &scripted{init: `"worker":{"args":["worker"]},"batch":{"actions":["make"]},"identity":["/n"],`}
		made := map[string]bool{}
		s.answer = func(in protocol.StateInput, args []string) (string, int) {
			switch key := string(in.Config); {
			case args[0] == "make":
				made[key] = true
				return "", 0
			case made[key]:
				return `{"status":"VALID","state":{}}`, 0
			}
			return `{"status":"STALE","actions":[{"name":"make","args":["make"]}]}`, 0
		}
		e.fake.Add("test/"+name+":1", s.program)
		for i := range 4 {
			fmt.Fprintf(&source, "resource %q {\n  type = \"test/%s:1\"\n  config = { n = %d }\n}\n", fmt.Sprint(name, i), name, i)
		}
	}
	if report := e.do(t, source.String()); report.Status != apply.OK {
		t.Fatal(encode(report))
	}
	return b.batches
}

// A batch is of one type. A busy machine may make several of them.
func TestBatch_IsOfOneType(t *testing.T) {
	t.Parallel()
	got := packed(t)
	if len(got["test/a:1"]) != 4 || len(got["test/b:1"]) != 4 {
		t.Fatalf("actions ran in %v", got)
	}
	for _, id := range got["test/a:1"] {
		if id != "" && slices.Contains(got["test/b:1"], id) {
			t.Errorf("two types share a batch: %v", got)
		}
	}
}
