package sweep

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"deployster/containerd/sandbox"
	"deployster/containerd/shim"
	"deployster/internal/base/proc"
)

// endOrphans ends the processes of a dead client's containers that containerd no longer
// has a record of: their programs, and the shims that supervise them. They exist if the
// client was killed while a container was being created: containerd gives up on that
// after a while, but a shim that was started may continue indefinitely, with a program that was
// never begun. starts reports that a shim may still be started: then nothing shows yet what
// is to be ended.
func (w Sweeper) endOrphans(client string) (starts bool, err error) {
	starts, err = w.end(cgroupsOf(client), func(id string) bool { return strings.HasPrefix(id, client+"-") })
	if w.Embedded {
		known, err2 := filepath.Glob(filepath.Join(w.RuntimeDir, "runc", w.Namespace, client+"-*"))
		err = errors.Join(err, err2)
		for _, dir := range known {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	return starts, err
}

// EndOrphan ends what is left of one removed container of a living client: if its server
// was killed while removing it, the next server may not know of a shim that was being
// started, which would continue for as long as the client does.
func (w Sweeper) EndOrphan(id string) error {
	groups := cgroupsWith(sandbox.CgroupPath(id))
	starts, err := w.end(groups, func(of string) bool { return of == id })
	for end := time.Now().Add(orphansEnd); err == nil && starts && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		starts, err = w.end(groups, func(of string) bool { return of == id })
	}
	return errors.Join(err, removeGroups(groups))
}

// end ends the programs in cgroups, and the shims of containers. starts reports that a
// process is running that may still start a shim.
func (w Sweeper) end(groups []string, of func(id string) bool) (starts bool, err error) {
	var errs []error
	for _, dir := range groups {
		content, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		if err != nil {
			continue // it no longer exists
		}
		for _, pid := range strings.Fields(string(content)) {
			errs = append(errs, endProcess(pid))
		}
	}
	if w.Embedded {
		errs = append(errs, w.endFirst(of))
	}
	list, err := proc.Files("cmdline")
	for _, file := range list {
		content, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		args := strings.Split(string(bytes.TrimRight(content, "\x00")), "\x00")
		if !w.isShim(args, of) {
			continue
		}
		switch args[len(args)-1] {
		case "delete": // it ends by itself
		case "start":
			starts = true
		default:
			errs = append(errs, endProcess(filepath.Base(filepath.Dir(file))))
		}
	}
	return starts, errors.Join(append(errs, err)...)
}

// isShim reports whether a command line is that of a shim of one of these containers, or
// of a process that starts a shim or cleans up after it.
func (w Sweeper) isShim(args []string, of func(id string) bool) bool {
	return filepath.Base(args[0]) == shim.Name && flagOf(args, "-namespace") == w.Namespace && of(flagOf(args, "-id"))
}

// flagOf returns the value of a flag in a command line, "" if it is not given.
func flagOf(args []string, flag string) string {
	if i := slices.Index(args, flag); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return ""
}

func endProcess(pid string) error {
	n, err := strconv.Atoi(pid)
	if err != nil || n <= 1 { // 0 is a process of another pid namespace
		return nil
	}
	if err := unix.Kill(n, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("ending process %d of a dead client: %w", n, err)
	}
	return nil
}

// orphansEnd is how long processes may take to end after they were killed.
const orphansEnd = 2 * time.Second

// removeOrphans removes everything of a dead client's containers that containerd no
// longer has a record of. runc removes their cgroups itself, but not if it was killed
// while it created a container. It returns gone = false while another one may still come.
func (w Sweeper) removeOrphans(client string) (gone bool, err error) {
	starts, err := w.endOrphans(client)
	return !starts, errors.Join(err, removeGroups(cgroupsOf(client)))
}

// removeGroups removes cgroups as soon as they are empty.
func removeGroups(dirs []string) error {
	err := rmdirs(dirs)
	for end := time.Now().Add(orphansEnd); err != nil && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		err = rmdirs(dirs)
	}
	return err
}

// cgroupsOf returns the directories of the cgroups of a client's containers.
func cgroupsOf(client string) []string { return cgroupsWith(sandbox.CgroupPath(client) + "-*") }

func cgroupsWith(path string) (list []string) {
	for _, root := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/*"} { // of version 2, and of 1
		dirs, _ := filepath.Glob(filepath.Join(root, path)) // the pattern is valid
		list = append(list, dirs...)
	}
	return list
}

func rmdirs(dirs []string) error {
	var errs []error
	for _, dir := range dirs {
		if err := unix.Rmdir(dir); err != nil && !errors.Is(err, unix.ENOENT) { // some hierarchies have two names
			errs = append(errs, &os.PathError{Op: "rmdir", Path: dir, Err: err})
		}
	}
	return errors.Join(errs...)
}
