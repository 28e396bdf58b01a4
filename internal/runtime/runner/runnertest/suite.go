package runnertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deployster/internal/runtime/runner"
)

// Runner is the interface that the Suite tests.
type Runner interface {
	runner.Runner
	runner.Launcher
}

// Suite checks that a Runner keeps the contracts of runner.Runner and
// runner.Launcher. It must have the probe's image under ProbeReference.
func Suite(t *testing.T, r Runner) {
	s := suite{r: r}
	RunnerSuite(t, r)
	each(t, []test{
		{"conversation", s.conversation},
		{"large conversation", s.largeConversation},
		{"end of a program", s.endOfProgram},
		{"termination", s.termination},
		{"released output", s.releasedOutput},
		{"mounts of a program", s.mountsOfProgram},
	})
}

// RunnerSuite is Suite for a Runner that is not a Launcher.
func RunnerSuite(t *testing.T, r runner.Runner) {
	s := suite{r: struct {
		runner.Runner
		runner.Launcher
	}{Runner: r}}
	each(t, []test{
		{"exit codes", s.exitCodes},
		{"stdin", s.stdin},
		{"outputs", s.outputs},
		{"command rules", s.commands},
		{"limits", s.limits},
		{"logs", s.logs},
		{"timeout", s.timeout},
		{"cancellation", s.cancellation},
		{"resolve", s.resolve},
		{"mounts", s.mounts},
		{"settings", s.settings},
		{"live output", s.live},
		{"concurrency", s.concurrency},
	})
}

type suite struct{ r Runner }

// spec returns the invocation of the probe with some arguments.
func (s suite) spec(t *testing.T, args ...string) runner.Spec {
	t.Helper()
	i, err := s.r.Resolve(context.Background(), ProbeReference)
	if err != nil {
		t.Fatalf("Resolve: %v", err)
	}
	return runner.Spec{Name: "suite/" + t.Name(), Kind: runner.Query, Digest: i.Digest, Args: args, Timeout: time.Minute,
		Grace: time.Second}
}

// ok runs an invocation that must end by itself with exit code 0.
func (s suite) ok(t *testing.T, spec runner.Spec) runner.Result {
	t.Helper()
	res, err := s.r.Run(context.Background(), spec)
	if err != nil || res.ExitCode != 0 {
		t.Fatalf("Run(%q): exit %d, error %v, stderr %q", spec.Args, res.ExitCode, err, res.Stderr)
	}
	return res
}

func (s suite) exitCodes(t *testing.T) {
	for _, code := range []int{0, 1, 3, 255} {
		spec := s.spec(t, "exit", fmt.Sprint(code))
		spec.Kind = runner.Action
		res, err := s.r.Run(context.Background(), spec)
		if err != nil || res.ExitCode != code || res.OOM {
			t.Errorf("exit %d: got %d, OOM %v, error %v", code, res.ExitCode, res.OOM, err)
		}
		if res.Duration <= 0 {
			t.Errorf("it took %s", res.Duration)
		}
	}
}

func (s suite) stdin(t *testing.T) {
	big := make([]byte, 1<<20)
	for i := range big {
		big[i] = byte(rand.Uint32())
	}
	for _, in := range [][]byte{nil, []byte("hello\n"), []byte("no newline\x00"), big} {
		spec := s.spec(t, "cat")
		spec.Stdin = in
		if res := s.ok(t, spec); !bytes.Equal(res.Stdout, in) {
			t.Errorf("%d bytes in, %d out, or not the same", len(in), len(res.Stdout))
		}
	}
}

func (s suite) outputs(t *testing.T) {
	res := s.ok(t, s.spec(t, "both"))
	if string(res.Stdout) != "to stdout\n" || string(res.Stderr) != "to stderr\n" {
		t.Errorf("got %q and %q", res.Stdout, res.Stderr)
	}
	const n = 500_000
	spec := s.spec(t, "flood", fmt.Sprint(n))
	spec.KeepLog = 2 * n
	res = s.ok(t, spec)
	if !bytes.Equal(res.Stdout, bytes.Repeat([]byte("o"), n)) || !bytes.Equal(res.Stderr, bytes.Repeat([]byte("e"), n)) {
		t.Errorf("of %d bytes each came %d and %d, or others", n, len(res.Stdout), len(res.Stderr))
	}
}

func (s suite) commands(t *testing.T) {
	for _, c := range []struct {
		entrypoint string
		args       []string
		want       string
	}{
		{"", nil, "/probe entry argv default"},
		{"", []string{"argv", "a b", "$HOME"}, "/probe entry argv a b $HOME"},
		{"/other", nil, "/other"},
		{"/other", []string{"argv", "x"}, "/other argv x"},
	} {
		spec := s.spec(t, c.args...)
		spec.Entrypoint = c.entrypoint
		res := s.ok(t, spec)
		if got := strings.Join(strings.Fields(string(res.Stdout)), " "); got != c.want {
			t.Errorf("entrypoint %q, args %q: got %q, want %q", c.entrypoint, c.args, got, c.want)
		}
	}
}

func (s suite) limits(t *testing.T) {
	const n = 100_000
	spec := s.spec(t, "flood", fmt.Sprint(n))
	spec.MaxStdout = n
	if res := s.ok(t, spec); len(res.Stdout) != n {
		t.Errorf("exactly the limit: got %d bytes", len(res.Stdout))
	}
	for _, args := range [][]string{{"flood", fmt.Sprint(n + 1)}, {"endless"}} {
		spec := s.spec(t, args...)
		spec.MaxStdout = n
		res, err := s.r.Run(context.Background(), spec)
		var exceeded *runner.OutputError
		if !errors.As(err, &exceeded) || exceeded.Limit != n {
			t.Errorf("%q: got error %v", args, err)
		}
		if len(res.Stdout) > n {
			t.Errorf("%q: kept %d bytes", args, len(res.Stdout))
		}
	}
}

func (s suite) logs(t *testing.T) {
	const n, keep = 100_000, 1000
	want := func(letter string) string {
		half := strings.Repeat(letter, keep/2)
		return fmt.Sprintf("%s\n[... %d bytes left out ...]\n%s", half, n-keep, half)
	}
	spec := s.spec(t, "flood", fmt.Sprint(n))
	spec.KeepLog = keep
	res := s.ok(t, spec)
	if len(res.Stdout) != n || string(res.Stderr) != want("e") {
		t.Errorf("query: got %d bytes of stdout, %d of stderr", len(res.Stdout), len(res.Stderr))
	}
	spec.LogStdout = true
	res = s.ok(t, spec)
	if string(res.Stdout) != want("o") || string(res.Stderr) != want("e") {
		t.Errorf("query whose stdout is a log: got %d bytes of stdout, %d of stderr", len(res.Stdout), len(res.Stderr))
	}
	spec.Kind, spec.LogStdout = runner.Action, false
	res = s.ok(t, spec)
	if string(res.Stdout) != want("o") || string(res.Stderr) != want("e") {
		t.Errorf("action: got %d bytes of stdout, %d of stderr", len(res.Stdout), len(res.Stderr))
	}
}

func (s suite) timeout(t *testing.T) {
	spec := s.spec(t, "obey")
	spec.Timeout, spec.Grace = time.Second, 30*time.Second
	res, err := s.r.Run(context.Background(), spec)
	var late *runner.TimeoutError
	if !errors.As(err, &late) || late.After != time.Second || late.Killed {
		t.Errorf("obeying: got error %v", err)
	}
	if string(res.Stdout) != "ready\ngot TERM\n" {
		t.Errorf("obeying: got %q", res.Stdout)
	}
	spec = s.spec(t, "ignore")
	spec.Timeout, spec.Grace = time.Second, 200*time.Millisecond
	res, err = s.r.Run(context.Background(), spec)
	if !errors.As(err, &late) || !late.Killed {
		t.Errorf("ignoring: got error %v", err)
	}
	if string(res.Stdout) != "ready\n" {
		t.Errorf("ignoring: got %q", res.Stdout)
	}
}

func (s suite) cancellation(t *testing.T) {
	cause := errors.New("the user said so")
	for _, verb := range []string{"obey", "ignore"} {
		ctx, cancel := context.WithCancelCause(context.Background())
		spec := s.spec(t, verb)
		spec.Grace = 200 * time.Millisecond
		if verb == "obey" {
			spec.Grace = 30 * time.Second
		}
		spec.Stdout = onFirst(func() { cancel(cause) })
		start := time.Now()
		_, err := s.r.Run(ctx, spec)
		if !errors.Is(err, cause) {
			t.Errorf("%s: got error %v", verb, err)
		}
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("%s: took %s", verb, d)
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	spec := s.spec(t, "both")
	spec.Stdout = onFirst(func() { t.Error("ran although it was cancelled before") })
	if _, err := s.r.Run(ctx, spec); !errors.Is(err, cause) {
		t.Errorf("cancelled before: got error %v", err)
	}
}

func (s suite) resolve(t *testing.T) {
	ctx := context.Background()
	full, err := s.r.Resolve(ctx, "docker.io/"+ProbeReference)
	if err != nil || full.Reference != "docker.io/"+ProbeReference {
		t.Errorf("full name: got %+v, %v", full, err)
	}
	for _, ref := range []string{ProbeReference, full.Digest} {
		if i, err := s.r.Resolve(ctx, ref); err != nil || i.Digest != full.Digest {
			t.Errorf("%s: got %+v, %v", ref, i, err)
		}
	}
	nowhere := "sha256:" + strings.Repeat("0", 64)
	for _, ref := range []string{"invoketest/probe:2", "invoketest/no", nowhere} {
		if i, err := s.r.Resolve(ctx, ref); !errors.Is(err, runner.ErrNoImage) {
			t.Errorf("%s: got %+v, %v", ref, i, err)
		}
	}
	spec := s.spec(t)
	spec.Digest = nowhere
	if _, err := s.r.Run(ctx, spec); !errors.Is(err, runner.ErrNoImage) {
		t.Errorf("Run of an unknown digest: got %v", err)
	}
}

func (s suite) mounts(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("from the host"), 0o644); err != nil {
		t.Fatal(err)
	}
	spec := s.spec(t, "read", "/in/f")
	spec.Mounts = []runner.Mount{{Source: dir, Target: "/in"}}
	if res := s.ok(t, spec); string(res.Stdout) != "from the host" {
		t.Errorf("read: got %q", res.Stdout)
	}
	spec.Args = []string{"write", "/in/g", "x"}
	if res, err := s.r.Run(context.Background(), spec); err != nil || res.ExitCode == 0 {
		t.Errorf("write to a read-only mount: exit %d, error %v", res.ExitCode, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "g")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a read-only mount was written: %v", err)
	}
	spec.Mounts[0].Writable = true
	s.ok(t, spec)
	if b, err := os.ReadFile(filepath.Join(dir, "g")); err != nil || string(b) != "x" {
		t.Errorf("write: got %q, %v", b, err)
	}
	spec.Mounts = []runner.Mount{{Source: filepath.Join(dir, "f"), Target: "/a file.txt"}}
	spec.Args = []string{"read", "/a file.txt"}
	if res := s.ok(t, spec); string(res.Stdout) != "from the host" {
		t.Errorf("read of a file: got %q", res.Stdout)
	}
	missing := filepath.Join(dir, "not there")
	spec.Mounts[0].Source = missing
	if _, err := s.r.Run(context.Background(), spec); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("missing source: got %v", err)
	}
}

func (s suite) settings(t *testing.T) {
	spec := s.spec(t, "env", "SUITE")
	spec.Settings.Env = map[string]string{"SUITE": "a value"}
	if res := s.ok(t, spec); string(res.Stdout) != "a value" {
		t.Errorf("env: got %q", res.Stdout)
	}
	spec = s.spec(t, "pwd")
	spec.Settings.Workdir = t.TempDir()
	if res := s.ok(t, spec); strings.TrimSpace(string(res.Stdout)) != spec.Settings.Workdir {
		t.Errorf("workdir %s: got %q", spec.Settings.Workdir, res.Stdout)
	}
}

func (s suite) concurrency(t *testing.T) {
	spec := s.spec(t, "cat")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			spec := spec
			spec.Stdin = bytes.Repeat([]byte{byte('a' + i)}, 70_000+i)
			res, err := s.r.Run(context.Background(), spec)
			if err != nil || res.ExitCode != 0 || !bytes.Equal(res.Stdout, spec.Stdin) {
				t.Errorf("run %d: exit %d, error %v, %d bytes", i, res.ExitCode, err, len(res.Stdout))
			}
		})
	}
	wg.Wait()
}
