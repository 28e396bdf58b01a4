//go:build machines

package machines

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A machine is a Debian of its own: reached by ssh, with a systemd that has started all of it.
func TestMachine_IsDebian(t *testing.T) {
	m := Start(t)
	out, err := m.SSH("sh", "-c", "hostname; ps -o comm= -p 1; id -un; cat /var/lib/dpkg/status | grep -c '^Package: apt$'").CombinedOutput()
	if want := m.Name + "\nsystemd\nroot\n1\n"; err != nil || string(out) != want {
		t.Fatalf("%q, %v, and must be %q", out, err, want)
	}
	if err := m.Ready(); err != nil {
		t.Fatal(err)
	}
}

// Two machines share nothing that one of them writes, and a new one has nothing of an old one.
func TestMachine_ForgetsWhatItChanged(t *testing.T) {
	one, two := Start(t), Start(t)
	if _, err := one.Shell("echo changed >/etc/motd && touch /mine && useradd somebody"); err != nil {
		t.Fatal(err)
	}
	for _, m := range []*Machine{two, Start(t)} {
		if out, err := m.Shell("ls /mine 2>/dev/null; getent passwd somebody; cat /etc/motd; true"); err != nil ||
			strings.Contains(out, "changed") ||
			strings.Contains(out, "/mine") || strings.Contains(out, "somebody") {
			t.Errorf("%s has %q, %v", m.Name, out, err)
		}
	}
}

// At the end of a machine there is nothing left of it, also of what it was still doing.
func TestMachine_LeavesNothing(t *testing.T) {
	m, err := Boot()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Shell("systemd-run -q sleep 1234567; setsid -f sleep 1234567 </dev/null >/dev/null 2>&1; mount -t tmpfs " +
		"tmpfs /mnt"); err != nil {
		t.Fatal(err)
	}
	groups, home := slices.Clone(m.groups), m.home
	if err := m.End(); err != nil {
		t.Fatal(err)
	}
	for _, path := range append(groups, home, filepath.Join(runDir, m.Name)) {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", path, err)
		}
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || strings.Contains(string(mounts), runDir) {
		t.Errorf("a mount is left: %v\n%s", err, mounts)
	}
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range commands {
		if line, err := os.ReadFile(file); err == nil && strings.Contains(string(line), "1234567") {
			t.Errorf("%s is left: %q", file, line)
		}
	}
}

// A machine is there in about a second.
func TestMachine_BootsFast(t *testing.T) {
	begin := time.Now()
	m := Start(t)
	took := time.Since(begin)
	if err := m.Ready(); err != nil {
		t.Fatal(err)
	}
	t.Logf("reached in %s, all units started after %s", took, time.Since(begin))
	if took > 5*time.Second {
		t.Errorf("it was reached after %s", took)
	}
}
