package meter

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// The work of a process that is nobody's child any more is counted, while it
// runs and after it has ended; that of one whose name is odd can be read.
func TestMeter_CountsOrphans(t *testing.T) {
	m, err := New()
	if err != nil {
		t.Fatal(err)
	}
	// The shell that is started ends at once. The one that it leaves works.
	script := `(i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; : >done; exec sleep 100) >/dev/null 2>&1 & echo $! >pid`
	dir := t.TempDir()
	var u Usage
	started := time.Now()
	u, err = m.around(func() error {
		if _, err := m.Run(context.Background(), Command{Dir: dir, Args: []string{"/bin/sh", "-c", script}}); err != nil {
			return err
		}
		for time.Since(started) < 5*time.Minute {
			if _, err := os.Stat(filepath.Join(dir, "done")); err == nil {
				return nil
			}
			time.Sleep(10 * time.Millisecond)
		}
		return errors.New("the orphan was not done in time")
	})
	pid, _ := os.ReadFile(filepath.Join(dir, "pid"))
	_ = exec.Command("kill", strings.TrimSpace(string(pid))).Run()
	if err != nil || u.Work < 30*time.Millisecond {
		t.Errorf("%+v, %v", u, err)
	}
	p, ok := parseStat("12 (a b) c) S 7 12 12 0 -1 4 1 2 3 4 100 50 25 25 20 0 1 0 5")
	if want := (Process{parent: 7, state: 'S', work: 2 * time.Second}); !ok || p != want {
		t.Errorf("%+v", p)
	}
}

// What a program's file holds is counted once, however many run it, and what
// each has of its own in full; what it has given back counts as well.
func TestMeter_CountsSharedPagesOnce(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	start := func() (pid int, shrink func()) {
		cmd := exec.Command(program, "-test.run", "^$")
		cmd.Env = append(os.Environ(), "BENCH_TEST_STAY=1")
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil || cmd.Start() != nil {
			t.Fatal("it does not start")
		}
		t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
		answer := func() {
			if _, err := out.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
		answer()
		return cmd.Process.Pid, func() {
			if _, err := in.Write([]byte{1}); err != nil {
				t.Fatal(err)
			}
			answer()
		}
	}
	first, shrink := start()
	alone := Memory(first)
	second, _ := start()
	shared := Memory(first)
	stop := together(first)
	time.Sleep(20 * sampleEvery) // a sample may be late where there is much to do
	shrink()
	time.Sleep(20 * sampleEvery)
	most, small := stop()<<10, Memory(first)
	if both := shared + Memory(second); shared >= alone || both >= 2*alone || alone < 32<<10 || most < 32<<10 || small >= 32<<10 {
		t.Errorf("KiB: %d at most, %d alone, %d beside another one, %d both, %d at the end", most, alone, shared, both, small)
	}
	if Memory(1<<30) != 0 || together(1<<30)() != 0 {
		t.Error("a process that there is not has memory")
	}
}

// TestMain may have to play a process of 32 MiB, until it reads a byte, which stays
// until its stdin ends.
func TestMain(m *testing.M) {
	if os.Getenv("BENCH_TEST_STAY") != "" {
		own := make([]byte, 32<<20)
		for i := range own {
			own[i] = byte(i)
		}
		_, _ = os.Stdout.Write(own[:1])
		if n, _ := os.Stdin.Read(own[:1]); n == 0 {
			return
		}
		own = nil
		debug.FreeOSMemory()
		_, _ = os.Stdout.Write(make([]byte, 1))
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	os.Exit(m.Run())
}
