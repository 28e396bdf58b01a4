package rootless

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// Enter starts the program of this process again, with the same arguments, environment, files and
// process id, in the namespace of its user. It returns only if that is not possible, with an error
// for users; nothing has changed then.
//
// A process with threads cannot enter a user namespace, and programs in Go have threads from the
// start. So nsenter enters it, and becomes the program.
func Enter() error {
	m, err := prepare()
	if err != nil {
		return err
	}
	dir, err := RuntimeDir()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	gate, err := waitGate(dir)
	if err != nil {
		return err
	}
	defer gate.Close()
	pid, err := holder(dir, m)
	if err != nil {
		return err
	}
	// The holder stays until this process is inside: Arrive closes the gate.
	if _, err := unix.FcntlInt(gate.Fd(), unix.F_SETFD, 0); err != nil {
		return err
	}
	environ := append(os.Environ(), fmt.Sprintf("%s=%d:%d:%d:%s", marker, os.Getuid(), os.Getgid(), gate.Fd(), here))
	return syscall.Exec(m.nsenter, slices.Concat(entering(pid), []string{self}, os.Args[1:]), environ)
}

// prepare finds what Enter needs.
func prepare() (m mapping, err error) {
	if err := allowed("/"); err != nil {
		return m, err
	}
	for program, at := range map[string]*string{"newuidmap": &m.newuidmap, "newgidmap": &m.newgidmap, "nsenter": &m.nsenter} {
		if *at, err = exec.LookPath(program); err != nil {
			return m, errProgram(program)
		}
	}
	m.uids, m.gids, err = subordinates("/", os.Getuid(), os.Getgid(), os.Getenv("USER"))
	return m, err
}
