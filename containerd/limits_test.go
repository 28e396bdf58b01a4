package containerd

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/containerd/containerd/v2/pkg/cap"

	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// TestSettings_TakeEffectInTheContainer asks from inside a container what a type block has set.
func TestSettings_TakeEffectInTheContainer(t *testing.T) {
	t.Parallel()
	r := open(t, embedded(t))
	dgst := pack(t, r, imagestore.PackOptions{Entrypoint: []string{"/bin/sh", "-c"}}, map[string]string{
		"etc/passwd": "app:x:77:78::/home/app:/bin/sh\n", "etc/group": "app:x:78:\nmore:x:79:app\n"})
	own, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, all, _ := strings.Cut(string(own), "CapBnd:\t")
	all, _, _ = strings.Cut(all, "\n")
	caps := "grep -E '^Cap(Eff|Bnd)' /proc/self/status | tr -d '\\t\\n'"
	for _, c := range []struct {
		name, script, want string
		settings           runner.Settings
	}{
		{"no capabilities", caps, "CapEff:0000000000000000CapBnd:0000000000000000", runner.Settings{Capabilities: runner.Capabilities{Drop: []string{"ALL"}}}},
		{"one capability", caps, "CapEff:0000000000001000CapBnd:0000000000001000", runner.Settings{Capabilities: runner.Capabilities{Add: []string{"NET_ADMIN"}, Drop: []string{"ALL"}}}},
		{"all capabilities", caps, "CapEff:" + all + "CapBnd:" + all, runner.Settings{Capabilities: runner.Capabilities{Add: []string{"ALL"}}}},
		{"the usual capabilities", caps, "CapEff:00000000a00405fbCapBnd:00000000a00405fb", runner.Settings{}},
		{"user with a capability", "id -u; ip link set lo down; echo $?; " + caps, "1234\n0\nCapEff:0000000000001000CapBnd:0000000000001000", runner.Settings{User: "1234", Network: runner.NoNetwork,
			Capabilities: runner.Capabilities{Add: []string{"NET_ADMIN"}, Drop: []string{"ALL"}}}},
		{"user by name", "id -u; id -G; echo $HOME", "77\n78 79\n/home/app", runner.Settings{User: "app"}},
		{"user", "id -u; id -g; id -G", "1234\n2345\n2345", runner.Settings{User: "1234:2345"}},
		{"user without group", "id -u; id -g; echo x >/dev/stderr", "1234\n0", runner.Settings{User: "1234"}},
		{"a file over the limit", "dd if=/dev/zero of=/f bs=64k count=3 2>/dev/null; echo $?; wc -c </f", "153\n131072", runner.Settings{Disk: 128 << 10}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			res, err := r.Run(context.Background(), runner.Spec{Name: c.name, Kind: runner.Query, Digest: dgst, Args: []string{c.script}, Settings: c.settings, Timeout: time.Minute})
			if got := strings.TrimSpace(string(res.Stdout)); err != nil || got != c.want {
				t.Errorf("got %q, want %q (stderr %q, error %v)", got, c.want, res.Stderr, err)
			}
		})
	}
	t.Run("unknown user", func(t *testing.T) {
		t.Parallel()
		_, err := r.Run(context.Background(), runner.Spec{Kind: runner.Query, Digest: dgst, Settings: runner.Settings{User: "nobody-here"}})
		if !isDiagnostic(err) || !strings.Contains(err.Error(), "nobody-here") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("more processors than there are", func(t *testing.T) {
		t.Parallel()
		_, err := r.Run(context.Background(), runner.Spec{Kind: runner.Query, Digest: dgst, Settings: runner.Settings{CPU: 999_500}})
		if !isDiagnostic(err) || !strings.Contains(err.Error(), "cpu = 999.5") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("many files over the limit", func(t *testing.T) {
		t.Parallel()
		res, err := r.Run(context.Background(), runner.Spec{Kind: runner.Action, Digest: dgst, Timeout: time.Minute, Settings: runner.Settings{Disk: 8 << 20},
			Args: []string{"i=0; while [ $i -lt 200 ]; do i=$((i+1)); dd if=/dev/zero of=/f$i bs=1M count=1 2>/dev/null || exit 3; [ $i -lt 20 ] || sleep 0.1; done"}})
		var full *runner.DiskError
		if !errors.As(err, &full) || full.Limit != 8<<20 {
			t.Errorf("got %+v, %v", res, err)
		}
	})
	t.Run("empty files over the limit", func(t *testing.T) {
		t.Parallel()
		_, err := r.Run(context.Background(), runner.Spec{Kind: runner.Action, Digest: dgst, Timeout: time.Minute, Settings: runner.Settings{Disk: 400 << 10},
			Args: []string{"i=0; while [ $i -lt 200 ]; do i=$((i+1)); : >/f$i; done; sleep 60"}})
		if full := new(runner.DiskError); !errors.As(err, &full) {
			t.Errorf("got %v", err)
		}
	})
}

// TestTerminate_GivesAHandlerOfSIGTERMItsGraceTime shows that a program which does nothing about SIGTERM ends at
// once, and that one which does is left to it.
func TestTerminate_GivesAHandlerOfSIGTERMItsGraceTime(t *testing.T) {
	t.Parallel()
	r := open(t, embedded(t))
	dgst := pack(t, r, imagestore.PackOptions{Entrypoint: []string{"/bin/sh", "-c"}}, nil)
	for _, c := range []struct {
		name, script, want string
		grace, most        time.Duration
		killed             bool
	}{
		{"a plain shell", "sleep 1000; echo went on", "", 5 * time.Minute, time.Minute, false},
		{"a program alone", "exec sleep 1000", "", 5 * time.Minute, time.Minute, false},
		{"a child with something to do", "sh -c 'trap \"sleep 0.3; echo tidied up; exit\" TERM; sleep 0.1 & while :; do wait; sleep 0.1; done'; echo went on", "tidied up", 5 * time.Minute, time.Minute, false},
		{"its own handler", "trap 'echo bye; exit 7' TERM; while :; do sleep 0.05; done", "bye", 5 * time.Minute, time.Minute, false},
		{"ignored on purpose", "trap '' TERM; while :; do sleep 0.05; done", "", 500 * time.Millisecond, time.Minute, true},
		{"a child that ignores it", "sh -c 'trap \"\" TERM; while :; do sleep 0.05; done'; echo went on", "", 500 * time.Millisecond, time.Minute, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			res, err := r.Run(context.Background(), runner.Spec{Name: c.name, Kind: runner.Action, Digest: dgst, Args: []string{c.script},
				Timeout: 5 * time.Second, Grace: c.grace}) // which a shell that has much beside it needs to begin
			took := time.Since(start)
			var timeout *runner.TimeoutError
			if !errors.As(err, &timeout) || timeout.Killed != c.killed || took > c.most {
				t.Errorf("after %s: %v", took, err)
			}
			if got := strings.TrimSpace(string(res.Stdout)); got != c.want {
				t.Errorf("it printed %q, want %q (stderr %q)", got, c.want, res.Stderr)
			}
		})
	}
}

func TestCapabilities_AreKnown(t *testing.T) {
	t.Parallel()
	if got, want := "CAP_"+strings.Join(runner.KnownCapabilities(), " CAP_"), strings.Join(cap.Known(), " "); got != want {
		t.Errorf("containerd knows %q, and invoke %q", want, got)
	}
}
