package person

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Person is a user of this machine.
type Person struct {
	Name, Home string
	UID, GID   int
}

// patience is how long to wait for others who change /etc/passwd, and for processes that end.
const patience = 2 * time.Minute

// New makes a user, who ends with the test.
func New(t testing.TB) Person {
	t.Helper()
	p, err := Make()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Remove(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// Make makes a user. The caller removes the user.
func Make() (Person, error) {
	var random [4]byte
	_, _ = rand.Read(random[:]) // documented to never fail
	p := Person{Name: "dt" + hex.EncodeToString(random[:])}
	p.Home = filepath.Join("/home", p.Name)
	for _, list := range []string{"/etc/subuid", "/etc/subgid"} { // useradd assigns such ids only where there is a list
		f, err := os.OpenFile(list, os.O_RDONLY|os.O_CREATE, 0o644)
		if err != nil {
			return p, err
		}
		_ = f.Close() // it was only made
	}
	if err := change("useradd", "--create-home", "--shell", "/bin/sh", p.Name); err != nil {
		return p, err
	}
	found, err := user.Lookup(p.Name)
	if err != nil {
		return p, errors.Join(err, p.Remove())
	}
	p.UID, _ = strconv.Atoi(found.Uid) // it was made a moment ago
	p.GID, _ = strconv.Atoi(found.Gid)
	return p, nil
}

// Remove removes the user, once all processes have ended. What else is left is an error.
func (p Person) Remove() error {
	var errs []error
	for end := time.Now().Add(patience); len(p.Processes()) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			errs = append(errs, fmt.Errorf("processes of %s are left:\n%s", p.Name, strings.Join(p.Processes(), "\n")))
			for _, line := range p.Processes() {
				pid, _ := strconv.Atoi(strings.Fields(line)[0]) // it is a number
				_ = syscall.Kill(pid, syscall.SIGKILL)          // it may have ended
			}
			break
		}
	}
	dir := p.RuntimeDir()
	if left := content(dir); len(left) > 0 {
		errs = append(errs, fmt.Errorf("%s is left, with %q", dir, left))
	}
	errs = append(errs, os.RemoveAll(dir))
	return errors.Join(append(errs, change("userdel", "--remove", p.Name))...)
}

// RuntimeDir returns where sockets are of a user who has not logged in.
func (p Person) RuntimeDir() string { return fmt.Sprintf("/tmp/deployster-%d", p.UID) }

// holderFiles are those of the process that holds the namespace of a user. Nobody removes them when that was
// killed and no other command follows.
var holderFiles = []string{"namespace", "namespace.gate"}

// content returns the names in a directory for sockets, other than those of the holder; nil = there are none.
func content(dir string) (names []string) {
	entries, _ := os.ReadDir(dir) // it may not exist
	for _, e := range entries {
		if !slices.Contains(holderFiles, e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

// Command returns a command of the user, in the home directory and with a path of programs in front of
// the usual one.
func (p Person) Command(path, name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir = p.Home
	c.Env = []string{"HOME=" + p.Home, "USER=" + p.Name, "PATH=" + path + ":/usr/bin:/bin:/usr/sbin:/sbin"}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(p.UID), Gid: uint32(p.GID)}}
	return c
}

// Processes returns the ids and the command lines of the living processes of the user.
func (p Person) Processes() (lines []string) {
	entries, _ := filepath.Glob("/proc/[0-9]*") // the pattern is valid
	for _, dir := range entries {
		info, err := os.Stat(dir)
		if err != nil {
			continue // it has ended
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		state, _ := os.ReadFile(filepath.Join(dir, "stat"))
		if !ok || int(stat.Uid) != p.UID || bytes.Contains(state, []byte(") Z ")) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		lines = append(lines, filepath.Base(dir)+" "+string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
	}
	return lines
}

// change runs a program that changes the list of users, and again while another one does.
func change(name string, args ...string) error {
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		out, err := exec.Command(name, args...).CombinedOutput()
		switch {
		case err == nil:
			return nil
		case !bytes.Contains(out, []byte("lock")) || time.Now().After(end):
			return fmt.Errorf("%s %v: %w\n%s", name, args, err, out)
		}
	}
}
