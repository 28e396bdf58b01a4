package durable

import "os"

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
