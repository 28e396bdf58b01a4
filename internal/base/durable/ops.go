package durable

import (
	"errors"
	"os"
	"syscall"
)

// ops are the operations that can fail on a bad or full disk. Tests inject faults here;
// everything else uses system().
type ops struct {
	write   func(f *os.File, b []byte) (int, error)
	sync    func(f *os.File) error
	rename  func(from, to string) error
	syncDir func(dir string) error
	// allocate reserves room on the disk for n bytes of a file from off on, without
	// changing its size.
	allocate func(f *os.File, off, n int64) error
}

func system() ops {
	return ops{
		write:    (*os.File).Write,
		sync:     (*os.File).Sync,
		rename:   os.Rename,
		syncDir:  SyncDir,
		allocate: allocate,
	}
}

// SyncDir makes the names in a directory durable: only after its directory is synced does
// a rename or a new file surely survive a power cut.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	if err := d.Sync(); err != nil {
		_ = d.Close() // the failed fsync is the error that matters
		return err
	}
	return d.Close()
}

// allocate queries the file system for room. If the file system cannot reserve any (for
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
