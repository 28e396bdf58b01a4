package runnertest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"deployster/internal/runtime/runner"
)

// test is one part of the Suite.
type test struct {
	name string
	run  func(*testing.T)
}

func each(t *testing.T, tests []test) {
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t)
		})
	}
}

// launch starts the probe.
func (s suite) launch(t *testing.T, args ...string) runner.Process {
	t.Helper()
	spec := s.spec(t, args...)
	spec.Timeout = 0
	p, err := s.r.Launch(context.Background(), spec)
	if err != nil {
		t.Fatalf("Launch: %v", err)
	}
	// The program is removed, however the test ends.
	t.Cleanup(func() {
		p.Kill()
		_, _ = p.Wait()
	})
	return p
}

// conversation writes a line and waits for it to come back, then the next.
func (s suite) conversation(t *testing.T) {
	p := s.launch(t, "cat")
	in := bufio.NewReader(p.Stdout())
	for _, line := range []string{"one\n", "two\n", "three\n"} {
		if _, err := io.WriteString(p.Stdin(), line); err != nil {
			t.Fatal(err)
		}
		if got, err := in.ReadString('\n'); got != line || err != nil {
			t.Fatalf("said %q, heard %q, %v", line, got, err)
		}
	}
	if err := p.Stdin().Close(); err != nil {
		t.Error(err)
	}
	if rest, err := io.ReadAll(in); len(rest) > 0 || err != nil {
		t.Errorf("more: %q, %v", rest, err)
	}
	if res, err := p.Wait(); res.ExitCode != 0 || err != nil {
		t.Errorf("%+v, %v", res, err)
	}
}

// largeConversation writes far more than fits into any pipe.
func (s suite) largeConversation(t *testing.T) {
	p := s.launch(t, "cat")
	said := bytes.Repeat([]byte("0123456789abcde\n"), 1<<19)
	go func() {
		_, _ = p.Stdin().Write(said) // the reader below checks what arrives
		_ = p.Stdin().Close()
	}()
	heard, err := io.ReadAll(p.Stdout())
	if !bytes.Equal(heard, said) || err != nil {
		t.Errorf("said %d bytes, heard %d, %v", len(said), len(heard), err)
	}
	if res, err := p.Wait(); res.ExitCode != 0 || err != nil {
		t.Errorf("%+v, %v", res, err)
	}
}

// endOfProgram starts programs that end by themselves, and one that is killed.
func (s suite) endOfProgram(t *testing.T) {
	p := s.launch(t, "exit", "7")
	if heard, err := io.ReadAll(p.Stdout()); len(heard) > 0 || err != nil {
		t.Errorf("heard %q, %v", heard, err)
	}
	if res, err := p.Wait(); res.ExitCode != 7 || err != nil {
		t.Errorf("ended by itself: %+v, %v", res, err)
	}
	p = s.launch(t, "both")
	if heard, err := io.ReadAll(p.Stdout()); string(heard) != "to stdout\n" || err != nil {
		t.Errorf("heard %q, %v", heard, err)
	}
	if res, err := p.Wait(); string(res.Stderr) != "to stderr\n" || len(res.Stdout) > 0 || err != nil {
		t.Errorf("said something: %+v, %v", res, err)
	}
	p = s.launch(t, "ignore")
	line := make([]byte, 6)
	if _, err := io.ReadFull(p.Stdout(), line); string(line) != "ready\n" || err != nil {
		t.Errorf("heard %q, %v", line, err)
	}
	begin := time.Now()
	p.Kill()
	_, _ = io.Copy(io.Discard, p.Stdout())
	if res, err := p.Wait(); res.ExitCode != 137 || err != nil || time.Since(begin) > time.Minute {
		t.Errorf("killed: %+v, %v", res, err)
	}
}

// termination sends SIGTERM to two programs: one that obeys, and one that must be killed.
func (s suite) termination(t *testing.T) {
	for verb, want := range map[string]string{"obey": "got TERM\n", "ignore": ""} {
		p := s.launch(t, verb)
		line := make([]byte, 6)
		if _, err := io.ReadFull(p.Stdout(), line); string(line) != "ready\n" || err != nil {
			t.Fatalf("%s: heard %q, %v", verb, line, err)
		}
		p.Terminate()
		code := 42
		if verb == "ignore" {
			time.AfterFunc(300*time.Millisecond, p.Kill)
			code = 137
		}
		if heard, err := io.ReadAll(p.Stdout()); string(heard) != want || err != nil {
			t.Errorf("%s: heard %q, %v", verb, heard, err)
		}
		if res, err := p.Wait(); res.ExitCode != code || err != nil {
			t.Errorf("%s: %+v, %v", verb, res, err)
		}
	}
}

// releasedOutput releases each line that it has read, and still reads the next one.
func (s suite) releasedOutput(t *testing.T) {
	p := s.launch(t, "cat")
	in, at := bufio.NewReader(p.Stdout()), int64(0)
	for i := range 200 {
		said := fmt.Sprintf("%d %s\n", i, bytes.Repeat([]byte("x"), 1000))
		if _, err := io.WriteString(p.Stdin(), said); err != nil {
			t.Fatal(err)
		}
		heard, err := in.ReadString('\n')
		if heard != said || err != nil {
			t.Fatalf("said %q, heard %q, %v", said, heard, err)
		}
		at += int64(len(heard))
		p.Release(at)
	}
	_ = p.Stdin().Close()
	if rest, err := io.ReadAll(in); len(rest) > 0 || err != nil {
		t.Errorf("more: %q, %v", rest, err)
	}
	if res, err := p.Wait(); res.ExitCode != 0 || err != nil {
		t.Errorf("%+v, %v", res, err)
	}
}

// mountsOfProgram starts a program that must not be able to write to its read-only mount.
func (s suite) mountsOfProgram(t *testing.T) {
	dir := t.TempDir()
	spec := s.spec(t, "write", "/in/f", "x")
	spec.Timeout, spec.Mounts = 0, []runner.Mount{{Source: dir, Target: "/in"}}
	p, err := s.r.Launch(context.Background(), spec)
	if err != nil {
		t.Fatalf("Launch: %v", err)
	}
	_, _ = io.Copy(io.Discard, p.Stdout())
	if res, err := p.Wait(); res.ExitCode == 0 || err != nil {
		t.Errorf("%+v, %v", res, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "f")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a read-only mount was written: %v", err)
	}
}
