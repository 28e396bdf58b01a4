package watching

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"deployster/internal/ui/events"
)

// What policies deny is reported by a watch, and not repaired. What they allow again, is.
func TestRun_RepairsNothingThatPoliciesDeny(t *testing.T) {
	w := newWorld(t, `
resource "a" {
  type   = "thing"
  config = { size = 1 }
}
`)
	rules := filepath.Join(t.TempDir(), "policy.hcl")
	write := func(level string) {
		t.Helper()
		text := fmt.Sprintf(`
policy "frozen" {
  level = %q
  rule {
    deny    = [for a, r in plan.resources : a if r.change != "valid"]
    message = "nothing changes today"
  }
}
`, level)
		if err := os.WriteFile(rules, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("mandatory")
	w.engine.Workspace.Environ = append(w.engine.Workspace.Environ, "DEPLOYSTER_REQUIRE_POLICY="+rules)
	w.engine.Workspace.Events = func(e events.Event) { w.set(func() { w.lines = append(w.lines, e.Message+"\n") }) }
	w.watch(t, Options{Approve: "drift"})
	w.set(func() { delete(w.things, "a") })
	w.await(t, "nothing changes today")
	time.Sleep(300 * time.Millisecond) // six polls
	w.mu.Lock()
	made := w.numbers
	w.mu.Unlock()
	if made != 1 {
		t.Fatalf("it was made %d times", made)
	}
	write("advisory")
	w.until(t, "its repair", func() bool { return w.numbers == 2 })
}
