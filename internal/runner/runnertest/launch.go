package runnertest

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"deployster/internal/runner"
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

// launch launches the probe.
func (s suite) launch(t *testing.T, args ...string) runner.Process {
	t.Helper()
	spec := s.spec(t, args...)
	spec.Timeout = 0
	p, err := s.r.Launch(context.Background(), spec)
	if err != nil {
		t.Fatalf("Launch: %v", err)
	}
	// Whatever becomes of the test, nothing of it stays.
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
		_, _ = p.Stdin().Write(said) // who listens sees what came
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

// endOfProgram launches programs that end by themselves, and one that is killed.
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
