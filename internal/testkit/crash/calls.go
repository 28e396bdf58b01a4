//go:build linux && amd64

package crash

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// where says how a system call names its file.
type where int

const (
	byFD   where = iota // the first argument is a descriptor
	byAt                // a directory's descriptor, then a path
	byPath              // the first argument is a path
	byAtTo              // like byAt; what is made is named by the third and fourth
	byOpen              // like byAt, when the flags ask for writing
)

// counted are the calls that change files or locks, by number.
var counted = map[uint64]struct {
	name string
	by   where
}{
	unix.SYS_WRITE: {"write", byFD}, unix.SYS_PWRITE64: {"pwrite64", byFD}, unix.SYS_WRITEV: {"writev", byFD},
	unix.SYS_SENDMSG: {"sendmsg", byFD},
	unix.SYS_FSYNC:   {"fsync", byFD}, unix.SYS_FDATASYNC: {"fdatasync", byFD}, unix.SYS_SYNCFS: {"syncfs", byFD},
	unix.SYS_FTRUNCATE: {"ftruncate", byFD}, unix.SYS_FALLOCATE: {"fallocate", byFD},
	unix.SYS_FCHMOD: {"fchmod", byFD}, unix.SYS_FLOCK: {"flock", byFD},
	unix.SYS_OPENAT: {"openat", byOpen}, unix.SYS_UNLINKAT: {"unlinkat", byAt}, unix.SYS_MKDIRAT: {"mkdirat", byAt},
	unix.SYS_RENAME: {"rename", byPath}, unix.SYS_UNLINK: {"unlink", byPath}, unix.SYS_MKDIR: {"mkdir", byPath},
	unix.SYS_RENAMEAT: {"renameat", byAtTo}, unix.SYS_RENAMEAT2: {"renameat2", byAtTo}, unix.SYS_LINKAT: {"linkat", byAtTo},
}

// Call is a system call that touches a file.
type Call struct {
	Name string
	Path string // relative to the directory that is watched; "." is that itself. Or "socket"
}

func (c Call) String() string { return c.Name + " " + c.Path }

// classify says which call a thread is about to make, if it is one that counts:
// on a file below what is watched. Links in that are resolved by the caller.
func classify(tid int, r *syscall.PtraceRegs, p Point) (Call, bool) {
	kind, ok := counted[r.Orig_rax]
	if !ok {
		return Call{}, false
	}
	path := ""
	switch kind.by {
	case byFD:
		path = descriptor(tid, int32(r.Rdi))
	case byPath:
		path = text(tid, r.Rdi)
	case byAt:
		path = at(tid, int32(r.Rdi), r.Rsi)
	case byAtTo:
		path = at(tid, int32(r.Rdx), r.R10)
	case byOpen:
		const changes = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC
		if r.Rdx&changes == 0 && !p.Reads {
			return Call{}, false
		}
		path = at(tid, int32(r.Rdi), r.Rsi)
	}
	if strings.HasPrefix(path, "socket:") {
		return Call{kind.name, "socket"}, p.Sockets
	}
	for _, dir := range append([]string{p.Dir}, p.Also...) {
		if path == dir {
			return Call{kind.name, "."}, true
		}
		if rel, below := strings.CutPrefix(path, dir+"/"); below {
			return Call{kind.name, rel}, true
		}
	}
	return Call{}, false
}

// descriptor gives the file behind an open descriptor of a thread.
func descriptor(tid int, fd int32) string {
	target, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tid, fd))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(target, " (deleted)")
}

// at joins a path of a thread to the directory that it is relative to.
func at(tid int, dirfd int32, address uint64) string {
	path := text(tid, address)
	if filepath.IsAbs(path) || path == "" {
		return path
	}
	if dirfd == unix.AT_FDCWD {
		cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", tid))
		if err != nil {
			return ""
		}
		return filepath.Join(cwd, path)
	}
	return filepath.Join(descriptor(tid, dirfd), path)
}

// text reads a string in a stopped thread's memory.
func text(tid int, address uint64) string {
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", tid))
	if err != nil {
		return ""
	}
	defer memory.Close()
	buffer := make([]byte, unix.PathMax)
	n, _ := memory.ReadAt(buffer, int64(address)) // short where the mapping ends
	path, _, _ := bytes.Cut(buffer[:n], []byte{0})
	return string(path)
}
