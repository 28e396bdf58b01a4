package sweep

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// collectIn names the environment variable by which this test is the process that collects.
const collectIn = "DEPLOYSTER_TEST_COLLECT_IN"

// A client that was suspended while it collected is named, and not waited for without end.
func TestCollecting_NamesTheSuspendedHolder(t *testing.T) {
	if dir := os.Getenv(collectIn); dir != "" {
		lock, err := Sweeper{RuntimeDir: dir}.lockCollecting(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("\nit has the lock")
		time.Sleep(time.Minute)
		lock.Close()
		return
	}
	dir := t.TempDir()
	other := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	other.Env = append(os.Environ(), collectIn+"="+dir)
	out, err := other.StdoutPipe()
	if err == nil {
		err = other.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	ended := false
	end := func() {
		if !ended {
			ended = true
			_ = other.Process.Kill()
			_ = other.Wait()
		}
	}
	defer end()
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "it has the lock"; {
	}
	if err := other.Process.Signal(unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the other is suspended", func() bool {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", other.Process.Pid))
		return strings.Contains(string(stat), ") T ")
	})
	w := Sweeper{RuntimeDir: dir, Patience: 50 * time.Millisecond}
	lock, err := w.lockCollecting(t.Context())
	var held *HeldError
	if lock != nil || !errors.As(err, &held) || held.PID != other.Process.Pid ||
		!strings.Contains(err.Error(), fmt.Sprintf("the process %d, which is suspended, holds the lock", held.PID)) {
		t.Fatalf("%v", err)
	}
	end()
	w.Patience = 0
	if lock, err = w.lockCollecting(t.Context()); err != nil {
		t.Fatalf("the holder has ended: %v", err)
	}
	if pid := holder(lock); pid != os.Getpid() {
		t.Errorf("the holder is %d", pid)
	}
	lock.Close()
}
