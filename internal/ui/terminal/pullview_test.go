package terminal

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"deployster/containerd"
)

func TestPullViewWithoutATerminal(t *testing.T) {
	var out bytes.Buffer
	v := newPullView(Printer{Out: &out}, nil)
	say := func(p containerd.PullPhase, done, total int64, err error) {
		v.progress(containerd.PullProgress{Reference: "acme/a:1", Phase: p, Done: done, Total: total, Err: err, Pause: time.Second})
	}
	say(containerd.PullResolving, 0, 0, nil)
	for done := range int64(50) {
		say(containerd.PullDownloading, done<<10, 50<<10, nil)
	}
	say(containerd.PullRetrying, 0, 0, errors.New("\x1b[2Jbad"))
	say(containerd.PullDownloading, 50<<10, 50<<10, nil)
	say(containerd.PullUnpacking, 50<<10, 50<<10, nil)
	say(containerd.PullDone, 50<<10, 50<<10, nil)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 || lines[0] != "Pulling acme/a:1, 50.0 KiB" || !strings.HasSuffix(lines[1], "Trying again in 1s.") || !strings.HasPrefix(lines[2], "Pulled acme/a:1 in ") {
		t.Errorf("%q", lines)
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("an escape comes through: %q", out.String())
	}
	out.Reset()
	say(containerd.PullResolving, 0, 0, nil) // only asked
	say(containerd.PullDone, 0, 0, nil)
	if out.Len() > 0 {
		t.Errorf("nothing was pulled: %q", out.String())
	}
}
