package apply_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"
	"testing"

	"deployster/apply"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// seer is a type that wants to see its dependencies, and takes down what it saw.
type seer struct {
	e  *engine
	mu sync.Mutex
	in []protocol.ActionInput
}

func (s *seer) program(ctx context.Context, spec runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
	text, err := io.ReadAll(stdin)
	var in protocol.ActionInput
	if err != nil || json.Unmarshal(text, &in) != nil {
		return 90
	}
	if len(spec.Args) == 0 {
		_, _ = io.WriteString(stdout, `{"protocol":2,"absent":true,"dependencies":true,"state_action":{"args":["state"]}}`)
		return 0
	}
	s.mu.Lock()
	s.in = append(s.in, in)
	s.mu.Unlock()
	return s.e.world.Program(ctx, spec, bytes.NewReader(text), stdout, stderr)
}

const user = `
resource "user" {
  type         = "test/seer:1"
  dependencies = { db = resource.NAME }
  config       = {}
}
`

// What removes a thing is told of its dependencies as the state file has them,
// in each of its steps, whether they stay, change, move or go too.
func TestRemoval_SeesItsDependencies(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]struct{ source, db string }{
		"all go":         {"", "db"},
		"it stays":       {thing("db", "port", "1"), "db"},
		"it is changed":  {thing("db", "port", "2"), "db"},
		"it moves":       {thing("b", "port", "1") + "moved {\n  from = resource.db\n  to = resource.b\n}\n", "b"},
		"it is let go":   {"removed {\n  from = resource.db\n  lifecycle {\n    destroy = false\n  }\n}\n", "db"},
		"another is new": {thing("other"), "db"},
	} {
		e := newEngine(t.TempDir())
		s := &seer{e: e}
		e.fake.Add("test/seer:1", s.program)
		e.do(t, thing("db", "port", "1")+replaced(user, "NAME", "db"))
		s.in = nil
		if report := e.do(t, then.source); report.Status != apply.OK {
			t.Fatalf("%s: %s", name, encode(report))
		}
		if len(s.in) != 4 { // to plan, before the action, the action, after it
			t.Errorf("%s: it was run %d times", name, len(s.in))
		}
		for _, in := range s.in {
			dep, ok := in.Dependencies["db"]
			if in.Intent != protocol.Absent || !ok || len(in.Dependencies) != 1 || dep.Name != then.db || dep.Status != protocol.Valid ||
				string(dep.Config) != `{"port":1}` || string(dep.State) != `{"port":1}` {
				t.Errorf("%s: %s", name, encode(in))
			}
		}
	}
}
