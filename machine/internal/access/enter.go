package access

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// containerVariable holds, for the program that has entered the machine, the numbers of the
// file descriptors of the container's root and of its mount namespace, as 6,7.
const containerVariable = "MACHINE_CONTAINER_ROOT"

// grantedRoot is the path of the machine's root in a container that has the whole machine.
const grantedRoot = "/machine"

// Enter has the whole process run in the mount namespace of the machine, and returns the
// machine. A thread alone can change its mount namespace, and a Go program has many: so the
// program executes itself again from a thread that has, and Enter returns in that second run.
func Enter() (*Machine, error) {
	if text, entered := os.LookupEnv(containerVariable); entered {
		return after(text)
	}
	same, err := sameFile("/proc/self/ns/mnt", "/proc/1/ns/mnt")
	switch {
	case errors.Is(err, os.ErrPermission):
		return nil, fmt.Errorf("the mount namespace of the machine cannot be found: %w. What deployster runs in, such as a container, "+
			"keeps root from the first process: run deployster outside of it, or give the type block a host", err)
	case err != nil:
		return nil, fmt.Errorf("the mount namespace of the machine cannot be found: %w", err)
	case same: // started by hand in a shell of the machine
		return &Machine{Root: "/"}, nil
	}
	if same, err = sameFile(grantedRoot, "/proc/1/root"); err != nil || !same {
		return nil, fmt.Errorf("%s is not the root of the machine (%w): this type needs whole_machine = true in its type block",
			grantedRoot, orElse(err))
	}
	return nil, again()
}

func orElse(err error) error {
	if err == nil {
		return fmt.Errorf("its process 1 has another root")
	}
	return err
}

func sameFile(a, b string) (bool, error) {
	x, err := os.Stat(a)
	if err != nil {
		return false, err
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y), err
}

// again executes this program again in the mount namespace of the machine; it returns
// only if that fails.
func again() error {
	runtime.LockOSThread() // and never unlocks it: the thread is not used for anything else
	open := func(path string, flags int) (int, error) {
		fd, err := unix.Open(path, flags, 0)
		if err != nil {
			return 0, fmt.Errorf("%s cannot be opened: %w", path, err)
		}
		return fd, nil
	}
	program, err := open("/proc/self/exe", unix.O_RDONLY|unix.O_CLOEXEC)
	if err != nil {
		return err
	}
	container, err := open("/", unix.O_PATH|unix.O_DIRECTORY) // stays open: it has the files of plugs
	if err != nil {
		return err
	}
	mounts, err := open("/proc/self/ns/mnt", unix.O_RDONLY) // stays open: plugs are mounted in it, and end with it
	if err != nil {
		return err
	}
	root, err := open("/proc/1/root", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC)
	if err != nil {
		return err
	}
	namespace, err := open("/proc/1/ns/mnt", unix.O_RDONLY|unix.O_CLOEXEC)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		of string
		do func() error
	}{
		{"unshare", func() error { return unix.Unshare(unix.CLONE_FS) }},
		{"setns", func() error { return unix.Setns(namespace, unix.CLONE_NEWNS) }},
		{"fchdir", func() error { return unix.Fchdir(root) }}, // process 1 may have another root than its namespace
		{"chroot", func() error { return unix.Chroot(".") }},
	} {
		if err := step.do(); err != nil {
			return fmt.Errorf("the machine cannot be entered: %s: %w", step.of, err)
		}
	}
	environment := append(os.Environ(), containerVariable+"="+strconv.Itoa(container)+","+strconv.Itoa(mounts))
	err = syscall.Exec("/proc/self/fd/"+strconv.Itoa(program), os.Args, environment)
	return fmt.Errorf("the machine cannot be entered: exec: %w", err)
}

// after returns the machine in the second run of the program.
func after(text string) (*Machine, error) {
	root, mounts, _ := strings.Cut(text, ",")
	for _, number := range []string{root, mounts} {
		fd, err := strconv.Atoi(number)
		if err != nil || fd < 3 {
			return nil, fmt.Errorf("%s is %q: this program sets it itself", containerVariable, text)
		}
		unix.CloseOnExec(fd)
	}
	if err := os.Unsetenv(containerVariable); err != nil {
		return nil, err
	}
	return &Machine{Root: "/", container: "/proc/self/fd/" + root}, nil
}

// FromContainer returns the path of a file of the container, such as that of a plug.
func (m *Machine) FromContainer(path string) string {
	return strings.TrimSuffix(m.container, "/") + path
}
