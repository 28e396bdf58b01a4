package apply_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"deployster/apply"
	"deployster/protocol"
)

// placed is a resource whose type finds its thing by nothing but what it remembers, and
// the place that it is in.
func placed(place, lifecycle string) string {
	return fmt.Sprintf("plug \"world\" {\n  path = %q\n}\nresource \"a\" {\n  type = \"test/placed:1\"\n%s  config = {}\n}\n", place, lifecycle)
}

// addPlaced adds its type. It tells how many things were made.
func addPlaced(t *testing.T, e *engine) (made func() int) {
	t.Helper()
	for _, place := range []string{"old", "new"} {
		if err := os.Mkdir(filepath.Join(e.dir, place), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	s := &scripted{init: `"memory":true,"plugs":{"world":{"container_path":"/world","writable":true}},`}
	s.answer = func(in protocol.StateInput, args []string) (string, int) {
		switch {
		case args[0] == "make":
			n++
			return fmt.Sprintf(`{"memory":%d}`, n), 0
		case in.Memory != nil:
			return fmt.Sprintf(`{"status":"VALID","state":{},"memory":%s}`, in.Memory), 0
		case len(in.Unsettled) > 0: // it looks for what they have made
			return fmt.Sprintf(`{"status":"VALID","state":{},"memory":%d}`, n), 0
		}
		return `{"status":"STALE","actions":[{"name":"make","args":["make"]}]}`, 0
	}
	e.fake.Add("test/placed:1", s.program)
	return func() int { return n }
}

// What is made in the place of another thing is made once, wherever the process dies: who
// goes on with the plan asks for what was begun then, and not for another thing.
func TestAnotherThing_IsResumed(t *testing.T) {
	t.Parallel()
	for name, lifecycle := range map[string]string{"adopts": "", "new": "  lifecycle {\n    adopt = false\n  }\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for facts := 1; ; facts++ {
				e := newEngine(t.TempDir())
				made := addPlaced(t, e)
				e.do(t, placed("old", lifecycle))
				p, err := e.plan(placed("new", lifecycle))
				if err != nil || !p.Resources["a"].Another {
					t.Fatalf("%+v, %v", p, err)
				}
				kept := map[string][]byte{}
				e.wrap = func(j apply.Journal) apply.Journal {
					return &dying{Journal: j, left: facts, keep: func() { e.keep(t, kept) }}
				}
				if report, _ := e.apply(t.Context(), p); report.Status == apply.OK && len(kept) == 0 {
					if facts < 3 {
						t.Errorf("only %d facts", facts)
					}
					return
				}
				for file, data := range kept {
					if err := os.WriteFile(filepath.Clean(file), data, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				e.wrap = nil
				report, err := e.apply(t.Context(), p)
				entry := e.recorded(t).Resources["a"]
				if err != nil || report.Status != apply.OK || made() != 2 || string(entry.Memory) != "2" {
					t.Errorf("dead after %d facts: made %d, remembers %s: %s, %v", facts, made(), entry.Memory, encode(report), err)
				}
				if rest, err := e.plan(placed("new", lifecycle)); err != nil || rest.HasChanges() {
					t.Errorf("dead after %d facts, there is still to do: %v", facts, err)
				}
			}
		})
	}
}
