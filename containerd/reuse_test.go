package containerd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	"golang.org/x/sys/unix"

	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/runtime/runner/runnertest"
)

// sharing is a Runtime whose queries share containers.
type sharing struct{ *Runtime }

func (s sharing) Run(ctx context.Context, spec runner.Spec) (runner.Result, error) {
	spec.Reuse = true
	return s.Runtime.Run(ctx, spec)
}

// sharedCounts counts the queries that were carried out in the containers which are
// idle now.
func sharedCounts(r *Runtime) (containers, queries int) {
	eachIdle(r, func(g *sharedGroup, w *sharedContainer) {
		containers, queries = containers+1, queries+w.served
		g.Return(w)
	})
	return containers, queries
}

// eachIdle borrows each shared container that is idle, and lets a function return or discard it.
func eachIdle(r *Runtime, do func(*sharedGroup, *sharedContainer)) {
	r.shared.mu.Lock()
	defer r.shared.mu.Unlock()
	for _, g := range r.shared.groups {
		for _, w := range g.Take() {
			do(g, w)
		}
	}
}

func TestSharedContainer_KeepsTheContract(t *testing.T) {
	t.Parallel()
	r := open(t, embedded(t))
	packProbe(t, r)
	t.Run("suite", func(t *testing.T) { runnertest.Suite(t, sharing{r}) })
	if containers, queries := sharedCounts(r); containers == 0 || queries <= containers {
		t.Errorf("%d containers have carried out %d queries: nothing was shared", containers, queries)
	}
	if err := r.closeIdle(); err != nil {
		t.Error(err)
	}
	nothingLeft(t, r)
}

// What a query gets is what it would get in a container of its own, whatever
// became of the container that it shares.
func TestSharedContainer_IsAsFresh(t *testing.T) {
	t.Parallel()
	r := open(t, embedded(t))
	dgst := pack(t, r, imagestore.PackOptions{Entrypoint: []string{"/bin/sh", "-c"}}, nil)
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	ask := func(kind runner.Kind, script string, change func(*runner.Spec)) (runner.Result, error) {
		s := runner.Spec{Name: "q", Kind: kind, Digest: dgst, Args: []string{script}, Reuse: true, Timeout: time.Minute, Grace: time.Second,
			Mounts: []runner.Mount{{Source: file, Target: "/f"}}}
		if change != nil {
			change(&s)
		}
		return r.Run(context.Background(), s)
	}
	answer := func(script, want string) {
		t.Helper()
		res, err := ask(runner.Query, script, nil)
		if got := strings.TrimSpace(string(res.Stdout)); err != nil || got != want {
			t.Errorf("%s: got %q (exit %d, %v, stderr %q), want %q", script, got, res.ExitCode, err, res.Stderr, want)
		}
	}
	idle := func(containers, queries int) {
		t.Helper()
		if c, q := sharedCounts(r); c != containers || q != queries {
			t.Errorf("%d containers have carried out %d queries, not %d and %d", c, q, containers, queries)
		}
	}
	answer("cat /f; echo mark >/mark", "one")
	answer("cat /f /mark; exit 3", "onemark") // shared, as it has asked for
	idle(1, 2)
	if res, err := ask(runner.Action, "cat /mark", nil); err != nil || res.ExitCode == 0 {
		t.Errorf("an action shares a container: exit %d, %v", res.ExitCode, err)
	}
	own := func(s *runner.Spec) { s.Settings.Workers = runner.NoWorkers }
	if res, err := ask(runner.Query, "cat /mark", own); err != nil || res.ExitCode == 0 {
		t.Errorf("what asks for containers of its own shares one: exit %d, %v", res.ExitCode, err)
	}

	// A file that is exchanged, as editors and this program do.
	if err := errors.Join(os.WriteFile(file+".new", []byte("two"), 0o600), os.Rename(file+".new", file)); err != nil {
		t.Fatal(err)
	}
	answer("cat /f; ls /mark 2>/dev/null", "two")
	idle(1, 1)

	// What goes on behind a query that has ended ends with it.
	answer("(sleep 0.5; while :; do echo more; sleep 0.05; done) & echo end", "end")
	idle(0, 0)
	answer("(sleep 0.01 &); sleep 0.2; echo outlived", "outlived") // and left no zombie
	answer("n=$(ls /proc); echo \"$n\" | grep -c '^[0-9]*$'", "3") // the first one, sh and ls
	idle(1, 2)

	var timeout *runner.TimeoutError
	if _, err := ask(runner.Query, "trap '' TERM; while :; do sleep 0.1; done", func(s *runner.Spec) { s.Timeout, s.Grace = 200*time.Millisecond, 200*time.Millisecond }); !errors.As(err, &timeout) || !timeout.Killed {
		t.Errorf("one that ignores its end: %v", err)
	}
	idle(0, 0)
	limited := func(s *runner.Spec) { s.Settings.Memory = 16 << 20 }
	if res, err := ask(runner.Query, "head -c 40m /dev/zero | tr '\\0' x | wc -c; : $(head -c 40m /dev/zero | tr '\\0' x)", limited); err != nil || !res.OOM {
		t.Errorf("too much memory: exit %d, OOM %v, %v", res.ExitCode, res.OOM, err)
	}

	// A container that is lost meanwhile.
	answer("echo there", "there")
	list, err := r.conn.Client.ContainerService().List(r.conn.Context(context.Background()))
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	var told lockedBuffer
	go func() {
		eventually(t, "the query runs", func() bool { return strings.Contains(told.String(), "running") })
		for _, c := range list {
			_, _ = r.conn.Client.TaskService().Kill(r.conn.Context(context.Background()), &taskapi.KillRequest{ContainerID: c.ID, Signal: uint32(unix.SIGKILL), All: true})
		}
		_ = os.WriteFile(file, []byte("killed"), 0o600)
	}()
	res, err := ask(runner.Query, "echo running >&2; until grep -q killed /f; do sleep 0.1; done; echo whole", func(s *runner.Spec) { s.Stderr = &told })
	if err != nil || string(res.Stdout) != "whole\n" || !strings.Contains(told.String(), "Trying again") {
		t.Errorf("in a container that was lost: %q, exit %d, %v; told: %q", res.Stdout, res.ExitCode, err, told.String())
	}
	if err := r.closeIdle(); err != nil {
		t.Error(err)
	}
	nothingLeft(t, r)
}
