package person

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
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

// New makes a user.
func New(t testing.TB) Person {
	t.Helper()
	var random [4]byte
	_, _ = rand.Read(random[:]) // documented to never fail
	p := Person{Name: "dt" + hex.EncodeToString(random[:])}
	p.Home = filepath.Join("/home", p.Name)
	change(t, "useradd", "--create-home", "--shell", "/bin/sh", p.Name)
	t.Cleanup(func() {
		eventually(t, "the processes of "+p.Name+" end", func() bool { return len(p.Processes()) == 0 })
		change(t, "userdel", "--remove", p.Name)
	})
	found, err := user.Lookup(p.Name)
	if err != nil {
		t.Fatal(err)
	}
	p.UID, _ = strconv.Atoi(found.Uid) // it was made a moment ago
	p.GID, _ = strconv.Atoi(found.Gid)
	return p
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

// Processes returns the command lines of the living processes of the user, and of subordinate ids.
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
func change(t testing.TB, name string, args ...string) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		out, err := exec.Command(name, args...).CombinedOutput()
		if err == nil {
			return
		}
		if !bytes.Contains(out, []byte("lock")) || time.Now().After(end) {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
	}
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(fmt.Sprintf("waited for %s in vain: %s", patience, what))
		}
	}
}
