package terminal

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"deployster/internal/runtime/runner/imagestore"
)

func TestPullView_WithoutATerminal(t *testing.T) {
	var out bytes.Buffer
	v := newPullView(Printer{Out: &out}, nil)
	say := func(p imagestore.Phase, done, total int64, why string) {
		v.progress(imagestore.Progress{Reference: "acme/a:1", Phase: p, Done: done, Total: total, Reason: why, Pause: time.Second})
	}
	say(imagestore.Resolving, 0, 0, "")
	for done := range int64(50) {
		say(imagestore.Downloading, done<<10, 50<<10, "")
	}
	say(imagestore.Retrying, 0, 0, "\x1b[2Jbad")
	say(imagestore.Downloading, 50<<10, 50<<10, "")
	say(imagestore.Unpacking, 50<<10, 50<<10, "")
	say(imagestore.Done, 50<<10, 50<<10, "")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 || lines[0] != "Pulling acme/a:1, 50.0 KiB" || !strings.HasSuffix(lines[1], "Trying again in 1s.") || !strings.HasPrefix(lines[2], "Pulled acme/a:1 in ") {
		t.Errorf("%q", lines)
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("an escape comes through: %q", out.String())
	}
	out.Reset()
	say(imagestore.Resolving, 0, 0, "") // only asked
	say(imagestore.Done, 0, 0, "")
	if out.Len() > 0 {
		t.Errorf("nothing was pulled: %q", out.String())
	}
}
