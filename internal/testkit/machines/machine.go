package machines

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"deployster/internal/testkit/cgroups"
)

//go:embed boot.sh
var bootScript string

const (
	port     = "3022"                     // of each sshd: another one may have port 22 of all addresses
	runDir   = "/run/deployster-machines" // has a lock for each number, and where its file system is mounted
	most     = 250
	bootTime = 30 * time.Second
)

// Machine is a machine that runs. It ends with the thread that booted it at the latest.
type Machine struct {
	Name    string // m7
	Address string // 127.0.3.7
	Port    string
	Key     string // the file of a private key that root's account accepts
	HostKey string // its public host key, as known_hosts has it

	home    string // has the config of ssh, and the console's output
	groups  cgroups.Groups
	nspawn  *exec.Cmd
	ended   chan struct{}
	leader  int // its systemd
	release func()
}

// Start boots a machine for a test, and ends it with the test.
func Start(t testing.TB) *Machine {
	t.Helper()
	m, err := Boot()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.End(); err != nil {
			t.Errorf("the machine %s: %v", m.Name, err)
		}
	})
	return m
}

// Boot boots a machine, with a number that no other has, and returns when its sshd answers. Other
// units may still start: see Ready.
func Boot() (*Machine, error) {
	b, err := openBase()
	if err != nil {
		return nil, err
	}
	m := &Machine{Port: port, Key: b.key(), ended: make(chan struct{})}
	if m.HostKey, err = b.hostKey(); err != nil {
		return nil, err
	}
	number, release, err := claim()
	if err != nil {
		return nil, err
	}
	m.Name, m.Address, m.release = "m"+strconv.Itoa(number), "127.0.3."+strconv.Itoa(number), release
	if err := m.boot(b); err != nil {
		return nil, errors.Join(err, m.End())
	}
	return m, nil
}

// claim returns a number that no other machine has while release is not called.
func claim() (number int, release func(), err error) {
	if err := os.MkdirAll(runDir, 0o700); err != nil {
		return 0, nil, err
	}
	for number = 1; number <= most; number++ {
		if release, err = lock(filepath.Join(runDir, strconv.Itoa(number)+".lock"), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return number, release, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return 0, nil, err
		}
	}
	return 0, nil, fmt.Errorf("%d machines run already", most)
}

func (m *Machine) boot(b base) error {
	var err error
	if m.home, err = os.MkdirTemp("", "machine"); err != nil {
		return err
	}
	if err := m.writeSSH(); err != nil {
		return err
	}
	if m.groups, err = cgroups.New("deployster-machine-" + m.Name); err != nil {
		return err
	}
	dir := filepath.Join(runDir, m.Name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	console, err := os.Create(filepath.Join(m.home, "console"))
	if err != nil {
		return err
	}
	args := append([]string{"-c", bootScript, "boot.sh", b.root(), dir, m.Name, m.Address, m.Port}, m.groups...)
	m.nspawn = exec.Command("sh", args...)
	m.nspawn.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	return m.start(console)
}

// start starts nspawn, and returns when sshd answers. It closes the console.
func (m *Machine) start(console *os.File) error {
	m.nspawn.Stdout, m.nspawn.Stderr = console, console
	started := make(chan error)
	go m.live(started)
	err := <-started
	if err := errors.Join(err, console.Close()); err != nil {
		return err
	}
	return m.wait()
}

// live starts nspawn and waits for its end, on one thread: Pdeathsig ends it with the thread that
// has started it.
func (m *Machine) live(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(m.ended)
	err := m.nspawn.Start()
	started <- err
	if err == nil {
		_ = m.nspawn.Wait() // its console has the reason
	}
}

// wait waits until sshd answers.
func (m *Machine) wait() error {
	for deadline := time.Now().Add(bootTime); ; time.Sleep(5 * time.Millisecond) {
		select {
		case <-m.ended:
			return fmt.Errorf("the machine %s ended while it booted:\n%s", m.Name, m.Console())
		default:
		}
		if m.answers() {
			return m.prepare()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("sshd of the machine %s does not answer after %s:\n%s", m.Name, bootTime, m.Console())
		}
	}
}

func (m *Machine) answers() bool {
	c, err := net.DialTimeout("tcp", net.JoinHostPort(m.Address, m.Port), time.Second)
	if err != nil {
		return false
	}
	defer func() { _ = c.Close() }() // it was only to see
	greeting := make([]byte, 4)
	_ = c.SetDeadline(time.Now().Add(time.Second)) // without it, Read would fail at once
	n, err := c.Read(greeting)
	return err == nil && string(greeting[:n]) == "SSH-"
}

// prepare makes writable what nspawn leaves read-only: containers of the machine make control groups of
// their own below those of the machine, and root sets kernel parameters.
func (m *Machine) prepare() error {
	if err := m.findLeader(); err != nil {
		return err
	}
	_, err := m.Shell(`for c in /proc/sys $(cut -d" " -f2 /proc/mounts | grep ^/sys/fs/cgroup); do
mount -o remount,bind,rw "$c" || true
done`)
	return err
}

// findLeader finds the first process of the machine, a child of nspawn.
func (m *Machine) findLeader() error {
	pid := strconv.Itoa(m.nspawn.Process.Pid)
	children, err := os.ReadFile(filepath.Join("/proc", pid, "task", pid, "children"))
	if err != nil {
		return err
	}
	for _, child := range strings.Fields(string(children)) {
		if name, err := os.ReadFile(filepath.Join("/proc", child, "comm")); err == nil && strings.TrimSpace(string(name)) == "systemd" {
			m.leader, err = strconv.Atoi(child)
			return err
		}
	}
	return fmt.Errorf("nspawn of the machine %s has no child that is a systemd", m.Name)
}

// Console returns what the machine printed while it booted.
func (m *Machine) Console() string {
	text, err := os.ReadFile(filepath.Join(m.home, "console"))
	if err != nil {
		return err.Error()
	}
	return tail(text)
}

// Root returns the machine's root directory, as a path of this one.
func (m *Machine) Root() string { return filepath.Join("/proc", strconv.Itoa(m.leader), "root") }

// Shell runs a script in the machine, as root with what root may do there, and returns its output. It is faster than ssh.
func (m *Machine) Shell(script string) (string, error) {
	c := exec.Command("nsenter", "-t", strconv.Itoa(m.leader), "-m", "-u", "-i", "-p", "-C", "--root", "--wdns=/root",
		"setpriv", "--bounding-set=-sys_time", "sh", "-c", script)
	c.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C"}
	out, err := c.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w in the machine %s of: %s\n%s", err, m.Name, script, tail(out))
	}
	return string(bytes.TrimSuffix(out, []byte("\n"))), err
}

// Ready waits until the machine has started all of its units.
func (m *Machine) Ready() error {
	state, err := m.Shell("systemctl is-system-running --wait || true")
	if err == nil && state != "running" {
		failed, _ := m.Shell("systemctl list-units --failed --no-legend; systemctl list-jobs --no-legend") // only for the message
		err = fmt.Errorf("the machine %s is %s, not running: %s", m.Name, state, failed)
	}
	return err
}

// End ends the machine at once, as a power failure would, and forgets what it changed.
func (m *Machine) End() error {
	var err error
	if m.nspawn != nil && m.nspawn.Process != nil {
		_ = m.nspawn.Process.Kill() // it may have ended
		<-m.ended
	}
	if m.groups != nil {
		err = m.groups.End()
	}
	if m.home != "" {
		err = errors.Join(err, os.RemoveAll(m.home))
	}
	_ = os.Remove(filepath.Join(runDir, m.Name)) // another namespace may still end that has it mounted: it is empty
	m.release()
	return err
}
