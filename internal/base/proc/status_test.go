package proc

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestParse_ReadsAnyProcessName(t *testing.T) {
	t.Parallel()
	rest := " 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0"
	for _, c := range []struct {
		name, stat string
		want       Status
		ended      bool
	}{
		{"a plain name", "7 (sleep) S" + rest, Status{"sleep", 'S', "4711"}, false},
		{"a name with parentheses and spaces", "7 (a) Z (b) S" + rest, Status{"a) Z (b", 'S', "4711"}, false},
		{"suspended", "7 (x) T" + rest, Status{"x", 'T', "4711"}, false},
		{"not waited for", "7 (x) Z" + rest, Status{"x", 'Z', "4711"}, true},
		{"dead", "7 (x) X" + rest, Status{"x", 'X', "4711"}, true},
		{"cut off", "7 (x) S 1 1", Status{}, true},
		{"no name", "7 x S" + rest, Status{}, true},
		{"nothing", "", Status{}, true},
		{"parentheses in the wrong order", ")(", Status{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := parse(c.stat)
			if got != c.want || got.Ended() != c.ended {
				t.Errorf("%+v, ended %v", got, got.Ended())
			}
			if (got.Since() == "") != c.ended {
				t.Errorf("since %q", got.Since())
			}
		})
	}
}

func TestOf_ThisProcess(t *testing.T) {
	t.Parallel()
	me := Of(os.Getpid())
	comm, err := os.ReadFile("/proc/self/comm")
	if err != nil || me.Ended() || me.Name != strings.TrimSpace(string(comm)) || me.Started == "" || me.Started != Of(os.Getpid()).Started {
		t.Errorf("%+v, %s, %v", me, comm, err)
	}
}

// A process that was killed has ended before it is waited for, and after.
func TestOf_AKilledProcess(t *testing.T) {
	t.Parallel()
	c := exec.Command("sleep", "1000")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if Of(c.Process.Pid).Ended() {
		t.Error("it has ended before it was killed")
	}
	if err := c.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for limit := time.Now().Add(time.Minute); !Of(c.Process.Pid).Ended(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("it does not end")
		}
	}
	_ = c.Wait() // it was killed
	if got := Of(c.Process.Pid); got.Started != "" && !got.Ended() && got.Name == "sleep" {
		t.Errorf("%+v", got)
	}
}
