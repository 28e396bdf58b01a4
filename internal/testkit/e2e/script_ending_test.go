package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"deployster/internal/base/proc"
)

// ending ends what a script that failed has left running. A script that goes well ends
// its own: what it leaves is its fault. testscript interrupts only what it has started
// itself, and later: of `sh -c 'deployster watch &' &` the shell.
type ending struct {
	t    testscript.T
	work string
	data []string // its data directories
	once sync.Once
}

type endingKey struct{}

func endingOf(ts *testscript.TestScript) *ending { return ts.Value(endingKey{}).(*ending) }

// check has something done at the end of a script. There a panic, and so ts.Fatalf, would
// end the whole suite, and leave behind what the other scripts run.
func (e *ending) check(at interface{ Defer(func()) }, f func() error) {
	at.Defer(func() {
		e.end()
		if err := f(); err != nil {
			e.t.Fatal(err)
		}
	})
}

// atEnd is check, for commands of a script.
func atEnd(ts *testscript.TestScript, f func() error) { endingOf(ts).check(ts, f) }

func failed(t testscript.T) bool {
	f, ok := t.(interface{ Failed() bool })
	return ok && f.Failed()
}

// How long the processes of a script have to end by themselves, and how often they are
// asked: a command that is told three times waits for no action.
const (
	endsWithin = 45 * time.Second
	askedEach  = 3 * time.Second
)

// end asks, and then kills, processes and what they have started. A server leaves by
// itself when nobody uses it any more, and then nothing of its containers is left.
func (e *ending) end() {
	if !failed(e.t) {
		return
	}
	e.once.Do(func() {
		var asked time.Time
		for end := time.Now().Add(endsWithin); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			running := started(e.work)
			if len(running) == 0 && e.users() == "" {
				return
			}
			if time.Since(asked) > askedEach {
				signal(running, syscall.SIGTERM)
				asked = time.Now()
			}
		}
		left := e.users()
		for _, pid := range started(e.work) {
			left += "\nprocess " + strconv.Itoa(pid)
		}
		for end := time.Now().Add(endsWithin); left != "" && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			e.kill()
			if len(started(e.work)) == 0 && e.users() == "" {
				break
			}
		}
		e.t.Log("did not end by itself, and was killed:\n" + left)
	})
}

// users are the processes and mounts that speak of the script's data directories.
func (e *ending) users() string {
	var all []string
	for _, dir := range e.data {
		if list := users(dir); list != "" {
			all = append(all, list)
		}
	}
	return strings.Join(all, "\n")
}

// kill ends everything at once: first who could start something new.
func (e *ending) kill() {
	signal(started(e.work), syscall.SIGKILL)
	for _, dir := range e.data {
		killUsers(dir)
	}
}

// killUsers kills the processes that speak of a directory, and unmounts what is in it.
func killUsers(dir string) {
	for line := range strings.Lines(users(dir)) {
		var pid int
		if _, err := fmt.Sscanf(line, "process %d", &pid); err == nil {
			killTree(pid)
		}
		if fields := strings.Fields(line); len(fields) > 5 && fields[0] == "mount" {
			_ = unix.Unmount(fields[5], unix.MNT_DETACH) // one above it may have taken it along
		}
	}
}

// killTree kills a process and its children: what runs in a container is the child of
// its shim.
func killTree(pid int) {
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	_ = syscall.Kill(pid, syscall.SIGKILL) // it may just have ended
	for child := range strings.FieldsSeq(string(children)) {
		if n, err := strconv.Atoi(child); err == nil {
			killTree(n)
		}
	}
}

// started lists the processes that a script has started, at whatever remove: they have
// its WORK, unless they run in a container, or are a server or a shim.
func started(work string) (list []int) {
	environs, _ := proc.Files("environ")
	for _, file := range environs {
		env, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(append([]byte{0}, env...), []byte("\x00WORK="+work+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			list = append(list, pid)
		}
	}
	return list
}

func signal(pids []int, s syscall.Signal) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, s) // it may just have ended
	}
}

// removeData removes a data directory that nobody uses any more.
func removeData(data string) error {
	if err := os.RemoveAll(data); err != nil {
		return fmt.Errorf("the data directory cannot be removed, something still uses it: %w", err)
	}
	if left := waitGone(data); left != "" {
		return fmt.Errorf("left behind: %s", left)
	}
	return nil
}

// failing runs scripts that are to fail, which is nobody's failure.
type failing struct {
	*testing.T
	failed bool
	log    strings.Builder
}

func (f *failing) Parallel()       {}
func (f *failing) Verbose() bool   { return false }
func (f *failing) Failed() bool    { return f.failed }
func (f *failing) Log(args ...any) { fmt.Fprintln(&f.log, args...) }
func (f *failing) Run(_ string, g func(testscript.T)) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		g(f)
	}()
	<-ended
}

func (f *failing) Fatal(args ...any) {
	f.Log(args...)
	f.FailNow()
}

func (f *failing) FailNow() {
	f.failed = true
	runtime.Goexit()
}

// A watch in the background of a script that fails is ended, however it was started,
// with its containerd and its containers: also one that was killed, and one that does
// not end because an action hangs.
func TestScripts_FailedLeavesNothing(t *testing.T) {
	t.Parallel()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"started by a shell": "exec sh -c 'deployster watch >out 2>err & wait' &\nwait-for out watching\n",
		"in a directory":     "cd sub\nexec sh -c 'cd ..; (deployster watch >out 2>err) & wait' &\ncd ..\nwait-for out watching\n",
		"killed":             "exec sh -c 'deployster watch >out 2>err & echo $! >pid; wait' &\nwait-for out watching\nexec sh -c 'kill -KILL $(cat pid)'\n",
		"action hangs":       "exec sh -c 'deployster watch >out 2>err & wait' &\nwait-for out watching\ncp minutes world/a.slow\nrm world/a\nwait-for world/.log 'make a begins'\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "fails.txtar")
			text := "thing test/thing:1\nmkdir world sub\nexec deployster apply -auto-approve\n" + script + "exec false\n" +
				"-- minutes --\n600\n-- main.hcl --\nplug \"world\" {\n  path = \"world\"\n}\n" +
				"resource \"a\" {\n  type   = \"test/thing:1\"\n  config = { size = 1 }\n}\n"
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			var data, work string
			f, p := &failing{T: t}, params(root, func(env *testscript.Env) error {
				data, work = env.Getenv("DEPLOYSTER_DATA_DIR"), env.WorkDir
				return nil
			})
			p.Files = []string{file}
			testscript.RunT(f, p)
			said := f.log.String()
			if !f.failed || !strings.Contains(said, "> exec false\n[exit status 1]") {
				t.Fatalf("the script did not fail as it should:\n%s", said)
			}
			if left := users(data); left != "" || len(started(work)) > 0 || exists(data) {
				t.Errorf("left behind: %s %v", left, started(work))
			}
			if strings.Contains(said, "was killed") || strings.Contains(said, "left behind") {
				t.Errorf("it did not end as it should:\n%s", said)
			}
		})
	}
}
