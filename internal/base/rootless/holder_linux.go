package rootless

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"deployster/internal/base/proc"
)

// HolderName is the argv[0] of the process that holds the namespace while no other process is in it.
const HolderName = "deployster-namespace"

// The descriptors that a holder is started with.
const (
	mappedFD = 3 // ends when the ids are mapped
	heldFD   = 4 // the file that has its process id, with a lock for as long as it lives
)

// The files of the namespace in a directory.
func heldFile(dir string) string { return filepath.Join(dir, "namespace") }
func gateFile(dir string) string { return filepath.Join(dir, "namespace.gate") }

// IsHolder reports whether this process was started, by its argv[0], as a holder.
func IsHolder(argv0 string) bool {
	_, again := heldAgain()
	return again || filepath.Base(argv0) == HolderName
}

// heldAgain returns the directory of a namespace whose holder was killed, and whether this process, which
// nsenter has started in it, is to be the next one.
func heldAgain() (dir string, is bool) { return strings.CutPrefix(os.Getenv(marker), "hold:") }

// Hold is the main function of a holder; args are its arguments without argv[0]: the directory, and
// "mapped" once its ids are. It returns the exit code.
func Hold(args []string) int {
	if dir, is := heldAgain(); is {
		_ = syscall.Exec("/proc/self/exe", []string{HolderName, dir, "mapped"}, []string{})
		return 1
	}
	if len(args) == 1 {
		// A process loses its rights in the namespace when a program starts before it is root there.
		mapped := os.NewFile(mappedFD, "mapped")
		word := make([]byte, 8)
		if n, _ := mapped.Read(word); string(word[:n]) != "mapped" {
			return 1 // its creator has ended
		}
		_ = mapped.Close()
		_ = syscall.Exec("/proc/self/exe", []string{HolderName, args[0], "mapped"}, os.Environ())
		return 1
	}
	if len(args) != 2 {
		return 2
	}
	for alone := 0; ; time.Sleep(aloneEvery) {
		if others() {
			alone = 0
		} else if alone++; alone > 1 && leave(args[0]) {
			return 0
		}
	}
}

// aloneEvery is how often a holder checks whether it is alone.
const aloneEvery = time.Second

// leave removes the files of a namespace, unless a command is about to enter it.
func leave(dir string) bool {
	gate, err := openGate(dir)
	if err != nil {
		return true // the session of the user has ended, with its directory
	}
	defer gate.Close()
	if unix.Flock(int(gate.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil || others() {
		return false
	}
	_ = errors.Join(os.Remove(heldFile(dir)), os.Remove(gateFile(dir)), os.Remove(dir)) // others may have files there
	return true
}

// others reports whether another process is in the user namespace of this one. In doubt it returns true.
func others() bool {
	mine, err := os.Readlink("/proc/self/ns/user")
	files, err2 := proc.Files("ns/user")
	if errors.Join(err, err2) != nil {
		return true
	}
	self := fmt.Sprintf("/proc/%d/ns/user", os.Getpid())
	for _, file := range files {
		if theirs, err := os.Readlink(file); err == nil && theirs == mine && file != self {
			return true
		}
	}
	return false
}

// openGate opens the file whose lock decides who creates or ends the namespace.
func openGate(dir string) (*os.File, error) {
	return os.OpenFile(gateFile(dir), os.O_RDWR|os.O_CREATE, 0o600)
}

// waitGate returns the gate of a directory with its lock. The file may disappear with a holder that ends.
func waitGate(dir string) (*os.File, error) {
	for {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		gate, err := openGate(dir)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for err = unix.EINTR; errors.Is(err, unix.EINTR); {
			err = unix.Flock(int(gate.Fd()), unix.LOCK_EX)
		}
		have, err2 := gate.Stat()
		if there, err3 := os.Stat(gate.Name()); errors.Join(err, err2) == nil && err3 == nil && os.SameFile(have, there) {
			return gate, nil
		}
		_ = gate.Close()
		if err := errors.Join(err, err2); err != nil {
			return nil, err
		}
	}
}

// holder returns the process that holds the namespace. It starts one if there is none. The gate is locked.
func holder(dir string, m mapping) (pid int, err error) {
	held, err := os.OpenFile(heldFile(dir), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return 0, err
	}
	defer held.Close()
	switch err := unix.Flock(int(held.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK):
		content, err := os.ReadFile(held.Name())
		if err != nil {
			return 0, err
		}
		return strconv.Atoi(strings.TrimSpace(string(content)))
	case err != nil:
		return 0, err
	}
	if pid := survivor(dir); pid > 0 {
		return m.holdAgain(dir, held, pid)
	}
	waiting, mapped, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer mapped.Close()
	defer waiting.Close()
	c := &exec.Cmd{Path: "/proc/self/exe", Args: []string{HolderName, dir}, Dir: "/", Env: []string{},
		ExtraFiles:  []*os.File{waiting, held},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS}}
	if err := c.Start(); err != nil {
		return 0, errRefused(err)
	}
	pid = c.Process.Pid
	if err = m.write(pid); err == nil {
		if err = held.Truncate(0); err == nil {
			_, err = fmt.Fprintf(held, "%d\n", pid)
		}
	}
	if err == nil {
		_, err = mapped.WriteString("mapped")
	}
	if err != nil {
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	return pid, err
}
