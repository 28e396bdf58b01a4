package sharedlog_test

import (
	"os"
	"path/filepath"
	"testing"

	"deployster/internal/sharedlog"
)

// What a claim that may still hold a log leaves proves that its process is dead; one that holds
// nothing leaves nothing, which proves nothing.
func TestPresence_Ends(t *testing.T) {
	p := sharedlog.Presence(t.TempDir())
	for _, held := range []bool{true, false} {
		claim := sharedlog.NewID()
		end := p.Show(claim, "dir:///a")
		if p.Dead(claim) {
			t.Error("a process that lives is dead")
		}
		end(held)
		if p.Dead(claim) != held {
			t.Errorf("its log is held: %v, and its process is dead: %v", held, p.Dead(claim))
		}
	}
}

// Who has a log removes what dead claims of it have left, and nothing of other logs or of those
// who live.
func TestPresence_IsSwept(t *testing.T) {
	p := sharedlog.Presence(t.TempDir())
	dead, other, lives := sharedlog.NewID(), sharedlog.NewID(), sharedlog.NewID()
	p.Show(dead, "dir:///a")(true)
	p.Show(other, "dir:///b")(true)
	end := p.Show(lives, "dir:///a")
	defer end(false)
	p.Sweep("dir:///a")
	for claim, stays := range map[string]bool{dead: false, other: true, lives: true} {
		if _, err := os.Stat(filepath.Join(string(p), claim)); (err == nil) != stays {
			t.Errorf("the file of %s: %v, and it stays: %v", claim, err, stays)
		}
	}
}
