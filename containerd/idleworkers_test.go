package containerd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deployster/containerd/idlepool"
	"deployster/containerd/layout"
	"deployster/containerd/runfiles"
	"deployster/containerd/sandbox"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/worker"
)

// keptScript is a worker that says which one it is, and how often it was asked.
const keptScript = `read -r me </proc/sys/kernel/random/uuid
n=0
while IFS= read -r line; do
  id=${line#*:}; id=${id%%,*}; n=$((n+1))
  printf '{"id":%s,"stdout":"%s %s %s"}\n{"id":%s,"exit":0}\n' $id $me $n $id $id
done
[ -z "$LINGER" ] || sleep $LINGER`

func keptSpec(dgst string) runner.Spec {
	return runner.Spec{Name: "q", Kind: runner.Query, Digest: dgst, Args: []string{"state"}, Stdin: []byte("{}"),
		Worker: &runner.Worker{Digest: dgst, Entrypoint: "/bin/sh", Args: []string{"-c", keptScript}}}
}

// keeping is a command that asks, and has not ended.
type keeping struct {
	t    testing.TB
	r    *Runtime
	pool *worker.Pool
}

func command(t testing.TB, o Options) *keeping {
	t.Helper()
	r, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return &keeping{t, r, worker.New(worker.Options{Runner: r, Launcher: r, Max: 1, Keep: true,
		Private: func(text string) bool { return strings.Contains(text, "hunter2") }})}
}

// ask returns which worker has answered, and how many it had answered then.
func (k *keeping) ask(s runner.Spec) (who, n string) {
	k.t.Helper()
	res, err := k.pool.Run(context.Background(), s)
	words := strings.Fields(string(res.Stdout))
	if err != nil || len(words) != 3 || words[1] != words[2] {
		k.t.Fatalf("%q, %v; %s", res.Stdout, err, res.Stderr)
	}
	return words[0], words[1]
}

func (k *keeping) end() {
	k.t.Helper()
	k.pool.Close()
	if err := k.r.Close(); err != nil {
		k.t.Error(err)
	}
}

// askOnce is a command that asks once.
func askOnce(t testing.TB, o Options, s runner.Spec) (who, n string) {
	t.Helper()
	k := command(t, o)
	defer k.end()
	return k.ask(s)
}

// A worker serves one command after the other, as long as all is the same for
// it, and never two at a time.
func TestWorker_IsKept(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	o.Keep, o.KeepScope = time.Minute, "/project"
	r := open(t, o)
	dgst := packProbe(t, r)
	s := keptSpec(dgst)
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	s.Mounts = []runner.Mount{{Source: put("f", "a"), Target: "/f"}}
	first, _ := askOnce(t, o, s)
	if again, n := askOnce(t, o, s); again != first || n != "2" {
		t.Errorf("the second command had %s, which has answered %s, and not %s", again, n, first)
	}
	put("f", "b") // shows up in a container that runs
	if again, n := askOnce(t, o, s); again != first || n != "3" {
		t.Errorf("the third command had %s (%s)", again, n)
	}
	seen := map[string]string{first: "the first"}
	other := func(what string, o Options, s runner.Spec) {
		t.Helper()
		who, n := askOnce(t, o, s)
		if seen[who] != "" || n != "1" {
			t.Errorf("%s: it was %s, that of %q, which has answered %s", what, who, seen[who], n)
		}
		seen[who] = what
	}
	changed := s
	changed.Settings.Env = map[string]string{"A": "1"}
	other("another environment", o, changed)
	changed = s
	changed.Mounts = []runner.Mount{{Source: s.Mounts[0].Source, Target: "/f", Writable: true}}
	other("a mount that can be written", o, changed)
	elsewhere := o
	elsewhere.KeepScope = "/other"
	other("another project", elsewhere, s)
	never := o
	never.Keep = 0
	other("a command that keeps nothing", never, s)

	// Two at a time.
	one, two := command(t, o), command(t, o)
	whoOne, _ := one.ask(s)
	whoTwo, _ := two.ask(s)
	if again, _ := one.ask(s); whoOne != first || again != first || seen[whoTwo] != "" {
		t.Errorf("two at a time had %s and %s, and then %s", whoOne, whoTwo, again)
	}
	one.end()
	two.end()
	if who, n := askOnce(t, o, s); who != whoTwo || n != "2" {
		t.Errorf("not the one that was used last: %s", who)
	}
	if err := os.Rename(put("g", "c"), s.Mounts[0].Source); err != nil {
		t.Fatal(err)
	}
	other("another file of the same name", o, s)

	// What is private, or has failed, is not kept.
	private := s
	private.Stdin = []byte(`{"password":"hunter2"}`)
	who, _ := askOnce(t, o, private)
	if again, _ := askOnce(t, o, s); again == who {
		t.Error("a worker was kept that knows a password")
	}
	private = s
	private.Settings.Env = map[string]string{"PASSWORD": "hunter2"}
	who, _ = askOnce(t, o, private)
	if again, _ := askOnce(t, o, private); again == who {
		t.Error("a worker was kept that has a password in its environment")
	}
	if len(containerKinds(t, r)) > idlepool.Capacity {
		t.Error("too many are kept")
	}
}

// A worker that nobody wants is ended after a while: at once when there are too
// many, and by force when it does not do it itself.
func TestIdleWorker_Ends(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	o.Keep = time.Second
	r := open(t, o)
	s := keptSpec(packProbe(t, r))
	first, _ := askOnce(t, o, s)
	swept(t, r)
	if again, _ := askOnce(t, o, s); again == first {
		t.Error("it has come back")
	}
	swept(t, r)

	o.Keep = time.Hour
	var all []*keeping
	for range idlepool.PerKey + 1 {
		k := command(t, o)
		k.ask(s)
		all = append(all, k)
	}
	for _, k := range all {
		k.end()
	}
	eventually(t, "the oldest is ended", func() bool { return len(containerKinds(t, r)) == idlepool.PerKey })
	// One dies, and one says what nobody has asked. Neither is used again.
	var lists []string
	eventually(t, "and its files", func() bool {
		lists, _ = filepath.Glob(filepath.Join(o.RuntimeDir, "io", "*", "*", runfiles.StdoutFile))
		return len(lists) == idlepool.PerKey
	})
	if err := os.WriteFile(lists[0], []byte("psst\n"), 0o600); err != nil {
		t.Fatal(lists, err)
	}
	if err := unix.Kill(workerPid(t, r, filepath.Base(filepath.Dir(lists[1]))), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "both are gone", func() bool { return len(containerKinds(t, r)) == idlepool.PerKey-2 })
	if len(layout.Clients(o.RuntimeDir)) < idlepool.PerKey-1 {
		t.Error("others went with them")
	}
}

func workerPid(t testing.TB, r *Runtime, container string) int {
	t.Helper()
	procs, err := sandbox.Processes(container, 0)
	if err != nil || len(procs) == 0 {
		t.Fatal(procs, err)
	}
	return procs[0]
}

// A worker may die while nobody uses it, or its server: the next command starts
// one anew, and nothing is left.
func TestKeptWorker_IsLost(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	o.Keep, o.IdleExit = time.Hour, 2*time.Minute
	r := open(t, o)
	s := keptSpec(packProbe(t, r))
	first, _ := askOnce(t, o, s)
	list, _ := filepath.Glob(filepath.Join(o.RuntimeDir, "io", "*", "*", runfiles.StdoutFile))
	if len(list) != 1 {
		t.Fatal(list)
	}
	dies := workerPid(t, r, filepath.Base(filepath.Dir(list[0])))
	// It dies when it has been asked for, so that the server cannot see it.
	between(t, o, func(c *net.UnixConn, forward forwarder, m idlepool.Message, stdin, lock *os.File) {
		if m.Worker != nil {
			answer, _, _ := forward(m, stdin, lock)
			_ = idlepool.Send(c, answer) // it waits for it
			return
		}
		answer, in, owner := forward(m)
		if answer.Worker == nil {
			_ = idlepool.Send(c, answer)
			return
		}
		if err := unix.Kill(dies, unix.SIGKILL); err != nil {
			t.Error(err)
		}
		eventually(t, "the worker is dead", func() bool { return !processLives(dies) })
		_ = idlepool.Send(c, answer, in, owner)
		closeAll(in, owner)
	})
	second, n := askOnce(t, o, s)
	if second == first || n != "1" {
		t.Errorf("%s, which is dead, has answered: %s", first, n)
	}
	pid := serverPid(o)
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server is gone", func() bool { return !processLives(pid) })
	third, _ := askOnce(t, o, s)
	if third == second {
		t.Error("a worker outlived its server")
	}
	eventually(t, "only the last is left", func() bool { return len(containerKinds(t, r)) == 1 })
	if again, _ := askOnce(t, o, s); again != third {
		t.Error("the new server keeps nothing")
	}
}

// A server that nobody uses leaves, whatever it keeps.
func TestServer_LeavesWithWorkers(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	o.Keep, o.IdleExit = time.Hour, time.Second
	k := command(t, o)
	k.ask(keptSpec(packProbe(t, k.r)))
	k.end()
	pid := serverPid(o)
	if pid == 0 {
		t.Fatal("it has left too soon")
	}
	eventually(t, "the server leaves", func() bool { return !processLives(pid) })
	if layout.Exists(o.RuntimeDir) || len(processesWith("random/uuid")) > 0 && len(processesWith(o.RuntimeDir)) > 0 {
		t.Error("something is left")
	}
}

// forwarder asks the real keeper.
type forwarder func(idlepool.Message, ...*os.File) (idlepool.Message, *os.File, *os.File)

// between stands in for the keeper, and decides what becomes of each message.
func between(t *testing.T, o Options, decide func(c *net.UnixConn, forward forwarder, m idlepool.Message, stdin, lock *os.File)) {
	t.Helper()
	socket, moved := o.server().PoolSocket(), o.server().PoolSocket()+".real"
	if err := os.Rename(socket, moved); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: socket, Net: "unixpacket"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false) // another server may have made its own there
	ended := make(chan struct{})
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	forward := func(from *net.UnixConn, m idlepool.Message, files ...*os.File) (idlepool.Message, *os.File, *os.File) {
		c, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: moved, Net: "unixpacket"})
		if err != nil {
			if !errors.Is(err, unix.ECONNREFUSED) { // it was killed, and the next one does not listen yet
				t.Error(err)
			}
			_ = from.Close() // as if nobody listened
			return idlepool.Message{}, nil, nil
		}
		defer c.Close()
		if err := idlepool.Send(c, m, files...); err != nil {
			t.Error(err)
		}
		m, stdin, lock, err := idlepool.Receive(c)
		if err != nil {
			t.Error(err)
		}
		return m, stdin, lock
	}
	go func() {
		defer close(ended)
		for {
			c, err := l.AcceptUnix()
			if err != nil {
				return
			}
			if m, stdin, lock, err := idlepool.Receive(c); err != nil {
				t.Error(err)
			} else {
				decide(c, func(m idlepool.Message, files ...*os.File) (idlepool.Message, *os.File, *os.File) {
					return forward(c, m, files...)
				}, m, stdin, lock)
				closeAll(stdin, lock)
			}
			_ = c.Close()
		}
	}()
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// However a command dies that hands a worker over or takes one: it is kept, or
// it is ended, and never lost or two's.
func TestIdlePool_DeathWhileHandingOver(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	o.Keep = time.Hour
	r := open(t, o)
	s := keptSpec(packProbe(t, r))
	var mu sync.Mutex
	var step string
	var child *exec.Cmd
	kill := func() {
		if err := child.Process.Kill(); err != nil {
			t.Error(err)
		}
	}
	command(t, o).end() // so there is a keeper
	between(t, o, func(c *net.UnixConn, forward forwarder, m idlepool.Message, stdin, lock *os.File) {
		mu.Lock()
		defer mu.Unlock()
		gives := m.Worker != nil
		if gives && step == "given to nobody" || !gives && step == "asked" {
			kill() // what was sent goes with who has it
			return
		}
		var files []*os.File
		if gives {
			files = []*os.File{stdin, lock}
		}
		answer, in, owner := forward(m, files...)
		defer closeAll(in, owner)
		if gives && step == "given" || !gives && step == "taken by nobody" {
			kill()
			return
		}
		files = nil
		if answer.Worker != nil {
			files = []*os.File{in, owner}
		}
		if !gives && step == "taken" {
			pause(t, child.Process.Pid)
			_ = idlepool.Send(c, answer, files...)
			closeAll(in, owner)
			kill()
			return
		}
		_ = idlepool.Send(c, answer, files...)
	})
	for _, c := range []struct {
		step   string
		Ending bool // it can be used by the next command
	}{{"given", true}, {"asked", true}, {"taken by nobody", false}, {"given", true}, {"taken", false}, {"given to nobody", false}} {
		before := len(containerKinds(t, r))
		mu.Lock()
		step = c.step
		child = startKeeper(t, o, s)
		mu.Unlock()
		if err := child.Wait(); child.ProcessState.Exited() {
			t.Fatalf("%s: the other command has ended by itself: %v: %s", c.step, err, child.Stderr)
		}
		mu.Lock()
		step = ""
		mu.Unlock()
		if !c.Ending {
			swept(t, r)
			continue
		}
		who, n := askOnce(t, o, s)
		if n == "1" || len(containerKinds(t, r)) != 1 {
			t.Errorf("%s: %s has answered %s; there were %d containers, and are %d", c.step, who, n, before, len(containerKinds(t, r)))
		}
	}
}

// pause stops a child process. A signal alone does not: a thread may go on until another
// one, which gets the signal, has a processor. This process would ask the worker that
// comes too late for it, and hand it over before it is killed. The kernel reports a stop to
// the parent when no thread runs any more.
func pause(t *testing.T, pid int) {
	t.Helper()
	err := unix.Kill(pid, unix.SIGSTOP)
	if err == nil {
		err = unix.EINTR
	}
	for errors.Is(err, unix.EINTR) {
		err = unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED, nil)
	}
	if err != nil {
		t.Error(err)
	}
}

// startKeeper starts another process that asks a worker once and ends.
func startKeeper(t *testing.T, o Options, s runner.Spec) *exec.Cmd {
	t.Helper()
	b, err := json.Marshal(clientJob{DataDir: o.DataDir, RuntimeDir: o.RuntimeDir, Runc: o.Runc, Spec: s, Keep: o.Keep})
	if err != nil {
		t.Fatal(err)
	}
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: []string{testClientName, string(b)}, Stderr: new(bytes.Buffer)}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}
