package containerd

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/runtime/runner/watchclient"
	"deployster/internal/testkit/page"
	"deployster/protocol"
)

var updateWatches = flag.Bool("update-watches", false, "write the table of hostile watches in docs/internals/hostile.md")

// hostileWatch is an image that does what it should not when it is asked to tell of
// changes, and what becomes of it.
type hostileWatch struct {
	name     string // what the image does
	verdict  string // what becomes of it, for docs/internals/hostile.md
	script   string // of the watch action, or of the worker
	worker   bool
	settings runner.Settings
	says     string        // in the error; "" = it is not ended for what it does
	is       error         // wrapped by the error
	live     bool          // it says its first line
	within   time.Duration // it ends by itself; 0 = it is asked to
}

func hostileWatches() []hostileWatch {
	const broken, ended = "broke the protocol", "watch ended"
	refused := `ended, and started again after a pause: "The image broke the protocol"`
	again := `started again after a pause: "The watch ended"`
	return []hostileWatch{
		{name: "is never ready", verdict: "ended after a minute, and started again after a pause", script: `sleep 31339`},
		{name: "says at once that it is ready, and closes its stdout", verdict: "polls find what it does not tell; the third time it is started again, and not relied on for a day",
			script: `echo '{}'; exec >&-; cat >/dev/null`, live: true},
		{name: "prints something other than events", verdict: refused, script: `echo '{}'; echo changed; cat >/dev/null`, live: true, says: broken},
		{name: "prints a line of a MiB", verdict: refused, script: `echo '{}'; head -c 1048576 /dev/zero | tr '\0' x; echo; cat >/dev/null`, live: true, says: broken},
		{name: "prints without end and without a newline", verdict: refused, script: `echo '{}'; tr '\0' x </dev/zero`, live: true, says: broken},
		{name: "prints invalid UTF-8", verdict: refused, script: `printf '{}\n{"detail":"\377"}\n'; cat >/dev/null`, live: true, says: broken},
		{name: "prints the escapes of a terminal", verdict: refused, script: `printf '{}\n{"detail":"\033[2J"}\n'; cat >/dev/null`, live: true, says: broken},
		{name: "puts the escapes of a terminal into JSON", verdict: "taken, and made visible where it is shown", script: `printf '{}\n{"detail":"\\u001b[2J"}\n'; cat >/dev/null`, live: true},
		{name: "floods", verdict: `not read: one look a second; after ten seconds it is ended: "The watch was ended"`, script: `while :; do echo '{}'; done`, live: true,
			is: watchclient.ErrFlooding, within: 90 * time.Second},
		{name: "forks and leaves", verdict: again + "; what it left ends with it", script: `echo '{}'; (trap '' TERM HUP; sleep 31339) & sleep 31339 & exit 0`, live: true, says: ended},
		{name: "ends at once", verdict: again, script: `exit 3`, says: "exit code 3"},
		{name: "ignores the end of its stdin", verdict: "SIGTERM after a second", script: `trap 'exit 0' TERM; echo '{}'; while :; do sleep 0.05; done`, live: true},
		{name: "ignores SIGTERM", verdict: "killed after another ten seconds", script: `trap '' TERM; echo '{}'; while :; do sleep 0.05; done`, live: true},
		{name: "does not read its stdin", verdict: "taken, where it says all the same that it is ready", script: `echo '{}'; sleep 31339`, live: true},
		{name: "fills its disk", verdict: `killed at disk: "The image filled the disk"`, settings: runner.Settings{Disk: 8 << 20}, live: true, says: "filled more than",
			script: `echo '{}'; i=0; while [ $i -lt 100 ]; do dd if=/dev/zero of=/tmp$i bs=1M count=1 2>/dev/null; i=$((i+1)); [ $i -lt 12 ] || sleep 0.2; done`},
		{name: "takes all memory", verdict: `killed at memory, where that is set: "The watch ended", out of memory`, settings: runner.Settings{Memory: 32 << 20}, live: true,
			says: "ran out of memory", script: `echo '{}'; x=x; while :; do x=$x$x; done`},
		{name: "writes to its plug", verdict: "cannot: the plugs of a watch are read-only", script: `echo '{}'; touch /world/x && exit 7; cat >/dev/null`, live: true},
		{name: "is a worker that answers another id", verdict: refused + ", for all that it watches", worker: true, script: `read -r l; echo '{"id":77,"stdout":"{}\n"}'; cat >/dev/null`, says: broken},
		{name: "is a worker that does not cancel", verdict: `killed after ten seconds, with all that it watches: "The watch was ended"`, worker: true, live: true,
			script: `read -r l; echo '{"id":1,"stdout":"{}\n"}'; cat >/dev/null; sleep 31339`},
		{name: "is a worker that reads nothing", verdict: "ended after a minute, and started again after a pause", worker: true, script: `sleep 31339`},
		{name: "is a worker that prints endless lines", verdict: refused + ", for all that it watches", worker: true, script: `read -r l; tr '\0' x </dev/zero`, says: broken},
	}
}

// TestHostileWatch_Verdicts runs images that do their worst when they are asked to tell
// of changes, in real containers.
func TestHostileWatch_Verdicts(t *testing.T) {
	t.Parallel()
	cases := hostileWatches()
	r := open(t, embedded(t))
	files := map[string]string{}
	for i, c := range cases {
		files[fmt.Sprint("w", i)] = "#!/bin/sh\n" + c.script + "\n"
	}
	digest := pack(t, r, imagestore.PackOptions{Reference: "test/watches:1"}, files)
	client := typeclient.New(typeclient.Options{Runner: r, Workspace: t.TempDir()})
	watches := watchclient.New(watchclient.Options{Launcher: r, Grace: 2 * time.Second})
	var waiting sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i, c := range cases {
		waiting.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			ty := protocol.Type{Protocol: 2, Digest: digest, WatchAction: &protocol.Command{Entrypoint: fmt.Sprint("/w", i)}}
			if c.worker {
				ty.WatchAction, ty.Worker = &protocol.Command{Args: []string{"watch"}}, &protocol.Command{Entrypoint: fmt.Sprint("/w", i)}
			}
			world := t.TempDir()
			s, err := client.WatchSpec(t.Context(), typeclient.Target{Address: c.name, Reference: "test/watches:1", Settings: c.settings,
				Mounts: []runner.Mount{{Source: world, Target: "/world", Writable: true}}}, ty, protocol.StateInput{})
			if err != nil {
				t.Error(err)
				return
			}
			c.watch(t, watches, watchclient.Request{Address: c.name, Reference: "test/watches:1", Spec: s})
			if left, _ := os.ReadDir(world); len(left) > 0 {
				t.Errorf("%s: its plug has %v", c.name, left)
			}
		})
	}
	waiting.Wait()
	watches.Close()
	nothingLeft(t, r)
}

// watch carries one out, and checks what becomes of it.
func (c hostileWatch) watch(t *testing.T, watches *watchclient.Client, r watchclient.Request) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var mu sync.Mutex
	var events []watchclient.Event
	first, end := make(chan struct{}), make(chan error, 1)
	go func() {
		end <- watches.Watch(ctx, &r, func(e watchclient.Event) {
			mu.Lock()
			defer mu.Unlock()
			if events = append(events, e); e.First {
				close(first)
			}
		})
	}()
	asked := c.says == "" && c.is == nil
	var err error
	if asked {
		if c.live {
			select {
			case <-first:
			case <-time.After(time.Minute):
				t.Errorf("%s: it did not begin", c.name)
			}
		}
		time.Sleep(time.Second)
		stop()
	}
	begin, most := time.Now(), max(c.within, time.Minute)
	select {
	case err = <-end:
	case <-time.After(most):
		t.Errorf("%s: it goes on after %s", c.name, most)
		stop()
		err = <-end
	}
	mu.Lock()
	defer mu.Unlock()
	switch text := fmt.Sprint(err); {
	case asked && !errors.Is(err, context.Canceled):
		t.Errorf("%s: %v", c.name, err)
	case !strings.Contains(strings.ToLower(text), strings.ToLower(c.says)), c.is != nil && !errors.Is(err, c.is):
		t.Errorf("%s: %v", c.name, err)
	case strings.Contains(text, "\xff") || strings.ContainsAny(text, "\x1b\x00"), len(text) > 3000:
		t.Errorf("%s: the error is %q", c.name, text)
	}
	if (len(events) > 0) != c.live {
		t.Errorf("%s: %d events", c.name, len(events))
	}
	for _, e := range events {
		if strings.Contains(e.Detail, "\x1b") {
			t.Errorf("%s: %q is told", c.name, e.Detail)
		}
	}
	t.Logf("%5.1fs, %5d events  %s", time.Since(begin).Seconds(), len(events), c.name)
}

// TestHostileWatch_Page compares the table of the page with the cases; with -update-watches
// it writes the table.
func TestHostileWatch_Page(t *testing.T) {
	var rows [][]string
	for _, c := range hostileWatches() {
		rows = append(rows, []string{c.verdict, c.name})
	}
	table := page.Table{Path: "../docs/internals/hostile.md", Header: []string{"what becomes of it", "the image, in a watch"}, Rows: page.Group(rows)}
	if err := table.Check(*updateWatches); err != nil {
		t.Error(err)
	}
}
