package sharedlog_test

import (
	"testing"

	"deployster/internal/sharedlog"
)

// What a claim that may still hold a log leaves proves that its process is dead; one that holds
// nothing leaves nothing, which proves nothing.
func TestPresence_Ends(t *testing.T) {
	p := sharedlog.Presence(t.TempDir())
	for _, held := range []bool{true, false} {
		claim := sharedlog.NewID()
		end := p.Show(claim)
		if p.Dead(claim) {
			t.Error("a process that lives is dead")
		}
		end(held)
		if p.Dead(claim) != held {
			t.Errorf("its log is held: %v, and its process is dead: %v", held, p.Dead(claim))
		}
	}
}
