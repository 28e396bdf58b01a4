//go:build linux && amd64

package crash_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deployster/internal/testkit/crash"
	"deployster/state"
)

const crowd = 64

// member is one of many that want to apply at once.
type member struct {
	*exec.Cmd
	output *bytes.Buffer
}

// single is the program of all members: it wants one thing.
func (a *arena) single() crash.Program {
	p := a.program(map[string]string{"a": "1"})
	_ = p.Output.Close() // each has its own
	return p
}

// member starts a subject that has wait time for the lock. Its actions wait
// until there is a file named go beside its state, if hold says so.
func (a *arena) member(p crash.Program, hold bool, wait time.Duration) member {
	a.t.Helper()
	c := exec.Command(p.Path)
	m := member{c, &bytes.Buffer{}}
	c.Args, c.Dir, c.Stdout, c.Stderr = p.Args, p.Dir, m.output, m.output
	c.Env = append(p.Env, subjectWait+"="+wait.String())
	if hold {
		c.Env = append(c.Env, subjectHold+"="+filepath.Join(a.root, "go"))
	}
	if err := c.Start(); err != nil {
		a.t.Fatal(err)
	}
	return m
}

// took is how long a member was with the lock's door.
func (m member) took(t *testing.T) time.Duration {
	t.Helper()
	scan := bufio.NewScanner(bytes.NewReader(m.output.Bytes()))
	for scan.Scan() {
		if text, ok := strings.CutPrefix(scan.Text(), "opened after "); ok {
			d, err := time.ParseDuration(text)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
	}
	t.Fatalf("nothing about the lock in %q", m.output)
	return 0
}

// TestCommands_ManyAtOnce lets many apply to one state at one time. One does, the others
// are refused at once and told why.
func TestCommands_ManyAtOnce(t *testing.T) {
	t.Parallel()
	var took []time.Duration
	for range sample(5, 1000) {
		a := newArena(t, 1)
		var all []member
		p := a.single()
		for range crowd {
			all = append(all, a.member(p, true, 0))
		}
		refused := make(chan member)
		for _, m := range all {
			go func() {
				_ = m.Wait() // its exit code is read below
				refused <- m
			}()
		}
		for range crowd - 1 {
			m := <-refused
			if m.ProcessState.ExitCode() != 1 || !strings.Contains(m.output.String(), "The state is locked") {
				t.Errorf("exit %d: %s", m.ProcessState.ExitCode(), m.output)
			}
			took = append(took, m.took(t))
		}
		if err := os.WriteFile(filepath.Join(a.root, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		winner := <-refused
		if winner.ProcessState.ExitCode() != 0 {
			t.Errorf("the one that had the lock: %s", winner.output)
		}
		done, err := effects(a.log)
		if err != nil || len(done) != 1 {
			t.Errorf("%v, %v", done, err)
		}
	}
	typical, slowest := summary(took)
	if t.Logf("%d refusals took %s, the slowest %s", len(took), typical, slowest); typical > 10*time.Second {
		t.Errorf("a refusal takes %s", typical)
	}
}

// TestLock_EndsWithItsHolder kills who has the lock; who waits gets it.
func TestLock_EndsWithItsHolder(t *testing.T) {
	t.Parallel()
	var took []time.Duration
	for range sample(5, 100) {
		a := newArena(t, 1)
		p := a.single()
		holder := a.member(p, true, 0)
		for begun := false; !begun; time.Sleep(time.Millisecond) {
			journal, _ := os.ReadFile(filepath.Join(a.dir, "state.json.journal")) // not there yet
			begun = bytes.Contains(journal, []byte("action-started"))
		}
		next := a.member(p, false, time.Minute)
		time.Sleep(100 * time.Millisecond) // it waits by now
		killed := time.Now()
		if err := holder.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = holder.Wait() // it was killed
		if err := next.Wait(); err != nil {
			t.Fatalf("%v: %s", err, next.output)
		}
		at, err := time.Parse(time.RFC3339Nano, outcome{output: next.output.String()}.said("opened at")[0])
		if err != nil {
			t.Fatal(err)
		}
		took = append(took, at.Sub(killed))
		if s, _, err := state.Load(state.File(filepath.Join(a.dir, "state.json"))); err != nil || len(s.Resources) != 1 {
			t.Errorf("%+v, %v", s, err)
		}
	}
	typical, slowest := summary(took)
	if t.Logf("the next one had the lock %s after the kill, %s at the latest", typical, slowest); typical > 10*time.Second {
		t.Errorf("the lock is free only after %s", typical)
	}
}

// summary gives the median and the longest. On a loaded machine one process or
// another waits long for a processor, which says nothing about locks.
func summary(took []time.Duration) (median, longest time.Duration) {
	slices.Sort(took)
	return took[len(took)/2], took[len(took)-1]
}
