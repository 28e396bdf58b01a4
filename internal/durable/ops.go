// Package durable writes files so that a crash or a power cut never loses what
// was said to be written: whole-file replacement, an append-only log with
// shared fsyncs, and locks that die with their process.
package durable

import "os"

// ops are the steps that can fail on a bad or full disk. It is a seam: tests
// put faults here, everything else uses system().
type ops struct {
	write   func(f *os.File, b []byte) (int, error)
	sync    func(f *os.File) error
	rename  func(from, to string) error
	syncDir func(dir string) error
}

func system() ops {
	return ops{
		write:   (*os.File).Write,
		sync:    (*os.File).Sync,
		rename:  os.Rename,
		syncDir: syncDir,
	}
}

// syncDir makes the names in a directory durable: a rename or a new file is
// only sure to be found after a power cut when its directory was synced.
func syncDir(dir string) error {
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
