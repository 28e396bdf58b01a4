package durable

import (
	"errors"
	"os"
	"syscall"
)

// allocate reserves space in the file system. If the file system cannot reserve any (for
// example NFS before 4.2), that is not an error: a full disk then shows at the next write.
func allocate(f *os.File, off, n int64) error {
	const keepSize = 1 // FALLOC_FL_KEEP_SIZE
	// The kernel checks the process's own limit only when a file grows.
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err == nil && uint64(off+n) > limit.Cur {
		return &os.PathError{Op: "fallocate", Path: f.Name(), Err: syscall.EFBIG}
	}
	for {
		err := syscall.Fallocate(int(f.Fd()), keepSize, off, n)
		switch {
		case err == nil, errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.ENOSYS):
			return nil
		case !errors.Is(err, syscall.EINTR):
			return &os.PathError{Op: "fallocate", Path: f.Name(), Err: err}
		}
	}
}
