package containerd

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deployster/containerd/runfiles"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// What queries have shared serves the next command too, while all is the same for
// it, and nobody has told it what is private.
func TestSharedContainer_IsKept(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	o.Keep, o.KeepScope, o.IdleExit = time.Hour, "/project", 2*time.Minute
	o.Private = func(text string) bool { return strings.Contains(text, "hunter2") }
	r := open(t, o)
	s := runner.Spec{Name: "q", Kind: runner.Query, Digest: pack(t, r, imagestore.PackOptions{Entrypoint: []string{"/bin/sh", "-c"}}, nil), Reuse: true,
		Timeout: time.Minute, Args: []string{"cat >/dev/null; echo >>/mark; wc -l </mark; cat /proc/1/status | grep -c Threads"}}
	// ask is a command that asks once: how often it has been asked there?
	ask := func(what string, o Options, s runner.Spec, want string) {
		t.Helper()
		r, err := Open(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		res, err := r.Run(context.Background(), s)
		if got := strings.Fields(string(res.Stdout)); err != nil || len(got) == 0 || got[0] != want {
			t.Errorf("%s: %q, %v, want %s; %s", what, res.Stdout, err, want, res.Stderr)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	ask("the first", o, s, "1")
	ask("the second", o, s, "2")
	other := s
	other.Settings.Env = map[string]string{"A": "1"}
	ask("another environment", o, other, "1")
	elsewhere := o
	elsewhere.KeepScope = "/other"
	ask("another project", elsewhere, s, "1")
	never := o
	never.Keep = 0
	ask("a command that keeps nothing", never, s, "1")
	ask("the third", o, s, "3")
	eventually(t, "three are kept", func() bool { return len(containerKinds(t, r)) == 3 })

	for what, change := range map[string]func(*runner.Spec){
		"input":     func(s *runner.Spec) { s.Stdin = []byte("hunter2") },
		"arguments": func(s *runner.Spec) { s.Args = append(s.Args[:1:1], "sh", "hunter2") },
		"output":    func(s *runner.Spec) { s.Args = []string{s.Args[0] + "; echo hunter2"} },
		"log":       func(s *runner.Spec) { s.Args = []string{s.Args[0] + "; echo hunter2 >&2"} },
	} {
		private := s
		private.Settings.PIDs = 50 // of its own
		ask("before a private "+what, o, private, "1")
		told := private
		change(&told)
		ask("a private "+what, o, told, "2")
	}
	// Also what could not be started has been told.
	private := s
	private.Settings.PIDs = 50
	ask("before one that is not there", o, private, "1")
	private.Entrypoint, private.Args = "/missing", []string{"hunter2"}
	if c, err := Open(context.Background(), o); err != nil {
		t.Fatal(err)
	} else if _, err := c.Run(context.Background(), private); err == nil || c.Close() != nil {
		t.Error("it began")
	}
	private.Entrypoint, private.Args = "", s.Args
	ask("after one that is not there", o, private, "1")
	private.Stdin = []byte("hunter2") // not to be counted below
	ask("for the last time", o, private, "2")
	private = s
	private.Settings.Env = map[string]string{"PASSWORD": "hunter2"}
	ask("a private environment", o, private, "1")
	ask("a private environment again", o, private, "1")

	// One that has died meanwhile, and one whose server has.
	kept, _ := filepath.Glob(filepath.Join(o.RuntimeDir, "io", "*", "*", runfiles.StdoutFile))
	if len(kept) != 3 {
		t.Errorf("kept are %v", kept)
	}
	for _, file := range kept {
		dies := workerPid(t, r, filepath.Base(filepath.Dir(file)))
		if err := unix.Kill(dies, unix.SIGKILL); err != nil {
			t.Error(err)
		}
		eventually(t, "it is dead", func() bool { return !processLives(dies) })
	}
	ask("after its death", o, s, "1")
	ask("after its death again", o, s, "2")
	pid := serverPid(o)
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server is gone", func() bool { return !processLives(pid) })
	ask("after its server's death", o, s, "1")
	eventually(t, "only the last is left", func() bool { return len(containerKinds(t, r)) == 1 })
	soon := o
	soon.Keep = time.Second
	ask("to be kept for a moment", soon, s, "2")
	swept(t, r)
}
