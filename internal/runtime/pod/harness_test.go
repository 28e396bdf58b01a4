package pod

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
)

// TestMain lets the test binary be the agent.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "deployster-pod" {
		os.Exit(Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// container makes a root of its own with the system's programs, the probe and what the Pod has, and
// starts the agent there as the first process.
const container = `set -e
root=$1; own=$2; shift 2
mount -t tmpfs -o mode=755 none $root
for d in bin sbin lib lib64 usr; do
	if [ -L /$d ]; then cp -P /$d $root/$d; elif [ -d /$d ]; then mkdir $root/$d; mount --bind /$d $root/$d; fi
done
mkdir $root/dev $root/proc $root/tmp $root/.deployster-run
mount --rbind /dev $root/dev; mount -t proc proc $root/proc; mount --bind $own/run $root/.deployster-run
cp $own/probe $root/probe; cp $own/probe $root/other; cp $own/worker $root/worker
cp $own/deployster-pod $root/deployster-pod
while [ "$1" != -- ]; do
	mkdir -p "$(dirname "$root$2")"
	if [ -d "$1" ]; then mkdir -p "$root$2"; else touch "$root$2"; fi
	mount --bind "$1" "$root$2"
	[ "$3" = rw ] || mount -o remount,bind,ro "$root$2"
	shift 3
done
shift
chmod 777 $own/run; exec chroot ${POD_USER:+--userspec=$POD_USER} $root /deployster-pod "$@"
`

// workerScript is a worker: each request of it is answered with its arguments. A request to die ends it.
const workerScript = `#!/bin/sh
while read -r line; do
	id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
	case "$line" in
	*'"die"'*) exit 3 ;;
	*'"slow"'*) sleep 1 ;;
	esac
	printf '{"id":%s,"stdout":"done\\n"}\n{"id":%s,"exit":5}\n' $id $id
done
`

// podFile is a Pod of the probe's image.
type podFile struct {
	t   *testing.T
	dir string // has the socket and the termination message in run
	cmd *exec.Cmd
	log *synced // what the agent prints
}

// synced is a buffer for two goroutines.
type synced struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *synced) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *synced) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// startPod starts the agent with mounts and arguments. It ends with the test.
func startPod(t *testing.T, mounts []runner.Mount, args ...string) (*podFile, error) {
	t.Helper()
	p := &podFile{t: t, dir: t.TempDir(), log: &synced{}}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"probe": runnertest.ProbeScript, "worker": workerScript} {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(self, filepath.Join(p.dir, "deployster-pod")); err != nil {
		program, err := os.ReadFile(self)
		if err == nil {
			err = os.WriteFile(filepath.Join(p.dir, "deployster-pod"), program, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"run", "root"} {
		if err := os.Mkdir(filepath.Join(p.dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	all := []string{"-m", "-p", "-f", "--kill-child", "sh", "-c", container, "sh", filepath.Join(p.dir, "root"), p.dir}
	for _, m := range mounts {
		mode := "ro"
		if m.Writable {
			mode = "rw"
		}
		if _, err := os.Stat(m.Source); err != nil {
			return nil, err
		}
		all = append(all, m.Source, m.Target, mode)
	}
	p.cmd = exec.Command("unshare", append(append(all, "--"), args...)...)
	p.cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "POD_USER=" + os.Getenv("POD_USER")}
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // a test that panics cleans nothing up
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = p.cmd.Wait() // a test checks how it ended
		close(ended)
	}()
	t.Cleanup(func() {
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", p.cmd.Process.Pid)); err == nil {
			pid := 0
			if _, err := fmt.Sscan(string(text), &pid); err == nil {
				_ = syscall.Kill(pid, syscall.SIGKILL) // with the first process all of the container end
			}
		}
		select {
		case <-ended: // it has reaped the first process
		case <-time.After(10 * time.Second):
			_ = p.cmd.Process.Kill()
			<-ended
		}
	})
	return p, nil
}

// serves are the arguments of an agent that serves. Its test sees the termination message, and the test ends it.
var serves = []string{"serve", "-message=/.deployster-run/message", "-events=/.deployster-run/events", "-workers=2", "-idle=1m"}

// newPod is startPod of an agent that serves.
func newPod(t *testing.T, args ...string) *podFile {
	t.Helper()
	p, err := startPod(t, nil, append(slices.Clone(serves), args...)...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// gone waits until the agent has ended.
func (p *podFile) gone() {
	p.t.Helper()
	p.until("the agent has ended", func() bool { return p.cmd.Process.Signal(syscall.Signal(0)) != nil })
}

// until waits for something.
func (p *podFile) until(what string, is func() bool) {
	p.t.Helper()
	for limit := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			p.t.Fatalf("not within a minute: %s. It printed:\n%s", what, p.log)
		}
	}
}

// message returns the termination message.
func (p *podFile) message() string {
	text, _ := os.ReadFile(filepath.Join(p.dir, "run", "message")) // it may not be there yet
	return string(text)
}

// dial opens a connection to the agent.
func (p *podFile) dial() net.Conn {
	p.t.Helper()
	path := filepath.Join(p.dir, "run", "agent")
	var conn net.Conn
	p.until("the agent listens", func() (is bool) {
		var err error
		conn, err = net.Dial("unix", path)
		return err == nil
	})
	return conn
}

// hello is that of a client that may act.
func hello(epoch int64, run string) remote.Hello {
	return remote.Hello{Build: remote.AgentVersion, Lineage: "lineage", Epoch: epoch, Run: run, Process: "deployster apply " + run}
}

// probeDigest is that of the probe's image.
var probeDigest = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte("probe")))

// client connects to the agent, and reports to it which image it is.
func (p *podFile) client(h remote.Hello) *remote.Client {
	p.t.Helper()
	c, err := p.connect(h, p.dial())
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

func (p *podFile) connect(h remote.Hello, conn io.ReadWriteCloser) (*remote.Client, error) {
	c, err := remote.NewClient(p.t.Context(), conn, h, remote.DefaultTiming())
	if err != nil {
		return nil, err
	}
	p.t.Cleanup(func() { _ = c.Close() })
	return c, c.Ship(p.t.Context(), runner.Shipment{Name: "docker.io/" + runnertest.ProbeReference, Digest: probeDigest,
		Entrypoint: runnertest.ProbeEntrypoint(), Cmd: runnertest.ProbeCmd()}, nil)
}

// kubelet runs each group in a Pod of its own. It implements runnertest.Runner.
type kubelet struct {
	t    *testing.T
	mu   sync.Mutex
	pods map[string]*remote.Client
}

func (k *kubelet) at(s runner.Spec) (*remote.Client, runner.Spec, error) {
	if dir := s.Settings.Workdir; dir != "" { // which a cluster does not have
		s.Mounts, s.Cwd = append(s.Mounts, runner.Mount{Source: dir, Target: dir}), dir
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	key := fmt.Sprint(s.Mounts)
	if k.pods[key] == nil {
		p, err := startPod(k.t, s.Mounts, serves...)
		if err != nil {
			return nil, s, err
		}
		k.pods[key] = p.client(hello(1, "run"))
	}
	return k.pods[key], s, nil
}

func (k *kubelet) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	c, s, err := k.at(s)
	if err != nil {
		return runner.Result{}, err
	}
	return c.Run(ctx, s)
}

func (k *kubelet) Launch(ctx context.Context, s runner.Spec) (runner.Process, error) {
	c, s, err := k.at(s)
	if err != nil {
		return nil, err
	}
	return c.Launch(ctx, s)
}

func (k *kubelet) Resolve(ctx context.Context, reference string) (runner.Image, error) {
	c, _, err := k.at(runner.Spec{})
	if err != nil {
		return runner.Image{}, err
	}
	if strings.HasPrefix(reference, "invoketest/") {
		reference = "docker.io/" + reference
	}
	return c.Resolve(ctx, reference)
}

// shell is an action or a query that runs a script of sh.
func shell(kind runner.Kind, id, script string, args ...string) runner.Spec {
	return runner.Spec{Name: "probe", Kind: kind, ID: id, Digest: probeDigest, Entrypoint: "/bin/sh",
		Args: append([]string{"-c", script, "sh"}, args...), Grace: time.Second}
}

// count returns how often an action was carried out that appends a line to the file of that name.
func (p *podFile) count(name string) int {
	text, _ := os.ReadFile(filepath.Join(p.dir, "run", name)) // 0 if it was not begun
	return strings.Count(string(text), "\n")
}

// pid returns the process id of the agent, outside of its container.
func (p *podFile) pid() int {
	p.t.Helper()
	pid := 0
	p.until("the agent has started", func() bool {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", p.cmd.Process.Pid))
		if err != nil {
			return false
		}
		_, err = fmt.Sscan(string(text), &pid)
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		return err == nil && string(name) == "deployster-pod\n"
	})
	return pid
}

// errNotRecorded is why a client does not record an end.
var errNotRecorded = errors.New("the disk is full")

// command runs a script in the container, as a program of the user who started the container.
func (p *podFile) command(script string, args ...string) (string, error) {
	out, err := exec.Command("nsenter", append([]string{"-t", fmt.Sprint(p.pid()), "-m", "-p", "-r", "sh", "-c", script, "sh"}, args...)...).CombinedOutput()
	return string(out), err
}
