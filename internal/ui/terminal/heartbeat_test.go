package terminal

import (
	"testing"
	"time"

	"deployster/apply"
)

func TestHeartbeat_NamesWhatTakesLong(t *testing.T) {
	said := make(chan string, 100)
	h := startHeartbeat(20*time.Millisecond, func(s string) { said <- s })
	defer h.stop()
	h.Applying(apply.Checking{Address: "db"})
	h.Applying(apply.ActionStarted{Address: "db", Action: "load"})
	if got := <-said; got != "still running: db load (0s)" {
		t.Errorf("said %q", got)
	}
	h.Applying(apply.ActionEnded{Address: "db", Action: "load"})
	if line := h.waiting(time.Now().Add(time.Hour), time.Second); line != "" {
		t.Errorf("what has ended is still named: %q", line)
	}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		h.begin(name)
	}
	if line := h.waiting(time.Now(), time.Hour); line != "" {
		t.Errorf("what has just begun is named: %q", line)
	}
	if line := h.waiting(time.Now().Add(time.Hour), time.Second); line != "still running: a (1h0m0s), b (1h0m0s), c (1h0m0s), d (1h0m0s), e (1h0m0s) and 2 more" {
		t.Errorf("said %q", line)
	}
}
