package durable

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ErrUnsure is wrapped when a file was replaced, but the disk did not confirm
// it: the new content is there now and may be gone after a power cut.
var ErrUnsure = errors.New("the disk did not confirm that the change is stored")

// WriteFile replaces the file at path with data, or makes it. When it returns
// nil, the new content survives a power cut. When it fails, the old file is
// untouched and no temporary file is left, except that an error which wraps
// ErrUnsure comes after the replacement. A failed fsync is never tried again:
// the kernel forgets the lost pages, and a second fsync would claim success.
//
// A symbolic link is followed: its target is replaced, the link stays.
func WriteFile(path string, data []byte, mode os.FileMode) error {
	return writeFile(system(), path, data, mode)
}

func writeFile(o ops, path string, data []byte, mode os.FileMode) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".tmp-*")
	if err != nil {
		return err
	}
	if err := fill(o, f, data, mode); err != nil {
		return errors.Join(err, discard(f.Name()))
	}
	if err := o.rename(f.Name(), path); err != nil {
		return errors.Join(err, discard(f.Name()))
	}
	if err := o.syncDir(dir); err != nil {
		return fmt.Errorf("%w: fsync %s: %w", ErrUnsure, dir, err)
	}
	return nil
}

// fill gives f its content and closes it in every case.
func fill(o ops, f *os.File, data []byte, mode os.FileMode) error {
	err := f.Chmod(mode)
	if err == nil {
		err = writeAll(o, f, data)
	}
	if err == nil {
		err = o.sync(f)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

func writeAll(o ops, f *os.File, data []byte) error {
	n, err := o.write(f, data)
	if err == nil && n < len(data) {
		err = &os.PathError{Op: "write", Path: f.Name(), Err: io.ErrShortWrite}
	}
	return err
}

func discard(temp string) error {
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Remove deletes a file and makes that durable. A file that is not there is
// no error.
func Remove(path string) error {
	return remove(system(), path)
}

func remove(o ops, path string) error {
	if err := os.Remove(path); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	}
	dir := filepath.Dir(path)
	if err := o.syncDir(dir); err != nil {
		return fmt.Errorf("%w: fsync %s: %w", ErrUnsure, dir, err)
	}
	return nil
}
