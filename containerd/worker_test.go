package containerd

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deployster/containerd/runfiles"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/worker"
)

// workerScript is a worker whose action "make" ends, with the code 9, when
// there is something in /mark; with "die" there it never says so.
const workerScript = `while IFS= read -r line; do
  id=${line#*:}; id=${id%%,*}
  case $line in
  *'"die"'*) echo dying >&2; exit 3 ;;
  *'"make"'*) (
    printf '{"id":%s,"stdout":"begins\\n"}\n' $id
    while ! [ -s /mark ]; do sleep 0.05; done
    if grep -q die /mark; then : >/die; exit; fi
    printf '{"id":%s,"stderr":"ends\\n"}\n{"id":%s,"exit":9}\n' $id $id
  ) & ;;
  *) printf '{"id":%s,"exit":0}\n' $id ;;
  esac
done
wait
if [ -e /die ]; then echo dying >&2; exit 3; fi`

// carriedSpec is an action in that worker.
func carriedSpec(t *testing.T, dgst string) (s runner.Spec, mark string) {
	t.Helper()
	mark = filepath.Join(t.TempDir(), "mark")
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return runner.Spec{Name: "a/make", Kind: runner.Action, Digest: dgst, Args: []string{"make"}, Stdin: []byte("{}"),
		Mounts: []runner.Mount{{Source: mark, Target: "/mark"}},
		Worker: &runner.Worker{Digest: dgst, Entrypoint: "/bin/sh", Args: []string{"-c", workerScript}}}, mark
}

// lostInWorker starts actions in a worker of another process, and kills that.
func lostInWorker(t *testing.T, o Options, r *Runtime, dgst string, ids ...string) (mark string) {
	t.Helper()
	s, mark := carriedSpec(t, dgst)
	c := startClient(t, o, s, ids...)
	eventually(t, "all have begun", func() bool {
		files, _ := filepath.Glob(filepath.Join(r.conn.Config.RuntimeDir, "io", "*", "*", runfiles.StdoutFile))
		begun := 0
		for _, f := range files {
			b, _ := os.ReadFile(f)
			begun += bytes.Count(b, []byte("begins"))
		}
		return begun == len(ids)
	})
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	return mark
}

// Actions in a worker whose client was killed are adopted as those in a
// container: while they run, when they have ended meanwhile, and when the server
// was killed too.
func TestAdopt_WaitsForActionsInAWorker(t *testing.T) {
	modes(t, func(t *testing.T, o Options, kill, restart func()) {
		r := open(t, o)
		dgst := packProbe(t, r)
		ids := []string{"w/1", "w/2", "w/3", "w/4", "w/5", "w/6", "w/7", "w/8"}
		mark := lostInWorker(t, o, r, dgst, ids...)
		if kinds := containerKinds(t, r); len(kinds) != 1 {
			t.Errorf("there are containers %q", kinds)
		}
		for _, id := range ids {
			if runs, err := r.Running(context.Background(), id); err != nil || !runs {
				t.Errorf("%s does not run: %v", id, err)
			}
		}
		var stdout, stderr bytes.Buffer
		adopted(t, r, "w/3", runner.Watch{Running: func() { end(t, mark) }, Stdout: &stdout, Stderr: &stderr})
		if stdout.String() != "begins\n" || stderr.String() != "ends\n" {
			t.Errorf("seen: %q, %q", stdout.String(), stderr.String())
		}
		for _, id := range slices.DeleteFunc(ids, func(id string) bool { return id == "w/3" }) {
			adopted(t, r, id, runner.Watch{})
		}
		mark = lostInWorker(t, o, r, dgst, "w/9")
		kill()
		end(t, mark)
		eventually(t, "it has ended", func() bool { return len(processesWith("while ! [ -s /mark ]")) == 0 })
		restart()
		adopted(t, r, "w/9", runner.Watch{})
		swept(t, r)
	})
}

// Of an action whose worker died with it nobody knows how it ended. A worker
// that carries out none goes with its client.
func TestWorker_DiesAlone(t *testing.T) {
	modes(t, func(t *testing.T, o Options, _, _ func()) {
		r := open(t, o)
		dgst := packProbe(t, r)
		mark := lostInWorker(t, o, r, dgst, "id")
		if err := os.WriteFile(mark, []byte("die"), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := r.Adopt(context.Background(), "id", runner.Watch{})
		if err != nil || out.Fate != runner.Unknown || !strings.Contains(out.Why, "exit code 3") || string(out.Stdout) != "begins\n" || string(out.Stderr) != "dying\n" {
			t.Errorf("adopted: %+v, %v", out, err)
		}
		if err := r.Discard(context.Background(), "id"); err != nil {
			t.Error(err)
		}
		s, _ := carriedSpec(t, dgst)
		s.Kind = runner.Query // is not in the ledger
		c := startClient(t, o, s, "query")
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // it was killed
		swept(t, r)
	})
}

// An action ends in a worker: that is told while it can still be found out; when
// it cannot be taken down, it is kept for another; when the worker dies, or the
// process that looks after it, its client knows what it can know.
func TestSweep_WorkerOfALivingClient(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	dgst := packProbe(t, r)
	first, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	pool := worker.New(worker.Options{Runner: first, Launcher: first, Max: 1})
	s, mark := carriedSpec(t, dgst)
	full := errors.New("disk full")
	s.ID, s.Ended = "full", func(res runner.Result, err error) error {
		if runs, rerr := r.Running(context.Background(), "full"); res.ExitCode != 9 || err != nil || rerr != nil || runs {
			t.Errorf("told: %+v, %v; it runs: %v, %v", res, err, runs, rerr)
		}
		return full
	}
	s.Stdout = writerFunc(func(p []byte) (int, error) { end(t, mark); return len(p), nil })
	if res, err := pool.Run(context.Background(), s); !errors.Is(err, full) || res.ExitCode != 9 {
		t.Errorf("got %+v, %v", res, err)
	}
	s.ID, s.Ended = "well", func(runner.Result, error) error { return nil }
	if res, err := pool.Run(context.Background(), s); err != nil || res.ExitCode != 9 || string(res.Stdout) != "begins\n" || string(res.Stderr) != "ends\n" {
		t.Errorf("got %+v, %v", res, err)
	}
	var died *runner.WorkerError
	s.ID, s.Args = "dies", []string{"die"}
	if res, err := pool.Run(context.Background(), s); !errors.As(err, &died) || res.ExitCode != 3 || string(res.Stderr) != "dying\n" {
		t.Errorf("its worker dies: %+v, %v", res, err)
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.ID, s.Args, s.Ended = "lost", []string{"make"}, func(runner.Result, error) error { t.Error("told what nobody knows"); return nil }
	s.Stdout = writerFunc(func(p []byte) (int, error) { killShim(t, r, "lost"); return len(p), nil })
	var unknown *runner.UnknownError
	if res, err := pool.Run(context.Background(), s); !errors.As(err, &unknown) {
		t.Errorf("its shim is lost: %+v, %v", res, err)
	}
	pool.Close()
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	for id, fate := range map[string]runner.Fate{"full": runner.Exited, "well": runner.Unknown, "dies": runner.Unknown, "lost": runner.Unknown} {
		out, err := r.Adopt(context.Background(), id, runner.Watch{})
		if err != nil || out.Fate != fate || out.NoTrace != (id == "well" || id == "dies") || id == "full" && out.ExitCode != 9 {
			t.Errorf("%s: %+v, %v", id, out, err)
		}
		if err := r.Discard(context.Background(), id); err != nil {
			t.Error(err)
		}
	}
	// A shim that was killed leaves its socket.
	eventually(t, "the containers are gone", func() bool { return len(containerKinds(t, r)) == 0 })
}
