package durable

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// ErrUnsure is wrapped when a file was replaced, but the disk did not confirm it: the new
// content is readable now and may be lost in a power cut.
var ErrUnsure = errors.New("the disk did not confirm that the change is stored")

// WriteFile replaces the file at path with data, or creates it. When it returns nil, the
// new content survives a power cut. When it fails, the old file is untouched and no
// temporary file is left, except that an error which wraps ErrUnsure comes after the
// replacement. A failed fsync is never tried again: the kernel forgets the lost pages,
// and a second fsync would claim success.
//
// A symbolic link is followed: its target is replaced or created, the link stays.
func WriteFile(path string, data []byte, mode os.FileMode) error {
	return writeFile(system(), path, data, mode, nil)
}

// WriteFrom is WriteFile for content that is too large for memory: write writes it.
func WriteFrom(path string, mode os.FileMode, write func(io.Writer) error) error {
	path, err := Follow(path)
	if err != nil {
		return err
	}
	return replaceAt(system(), path, func(f *os.File) error { return write(f) }, mode, nil)
}

// WriteFileHere is WriteFile without following a symbolic link at path: the file replaces
// the link. So nobody who may write to the directory can choose which file is replaced.
func WriteFileHere(path string, data []byte, mode os.FileMode) error {
	return replaceAt(system(), path, content(system(), data), mode, nil)
}

// WriteUnsynced is WriteFileHere for content that may be lost: no reader sees half of it
// while the machine runs, but a power cut may lose it, or leave it torn.
func WriteUnsynced(path string, data []byte, mode os.FileMode) error {
	o := system()
	o.sync = func(*os.File) error { return nil }
	o.syncDir = func(string) error { return nil }
	return replaceAt(o, path, content(o, data), mode, nil)
}

// Replace is WriteFile for an existing file: it keeps its permission bits and its owner.
// Where the owner cannot be kept it fails, and the old file is untouched. Other links to
// the file keep the old content.
func Replace(path string, data []byte) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	const bits = os.ModePerm | os.ModeSetuid | os.ModeSetgid | os.ModeSticky
	return writeFile(system(), path, data, info.Mode()&bits, info)
}

// writeFile replaces a file; like is the file whose owner it gets (nil = none).
func writeFile(o ops, path string, data []byte, mode os.FileMode, like os.FileInfo) error {
	path, err := Follow(path)
	if err != nil {
		return err
	}
	return replaceAt(o, path, content(o, data), mode, like)
}

// replaceAt replaces the file at path itself, without following a link.
func replaceAt(o ops, path string, write func(*os.File) error, mode os.FileMode, like os.FileInfo) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".tmp-*")
	if err != nil {
		return err
	}
	if err := fill(o, f, write, mode, like); err != nil {
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

// RemoveTemporary removes from a directory the temporary files of processes that were
// killed while they replaced a file, if of accepts that file's name. The caller must be
// the only one who may replace these files now.
func RemoveTemporary(dir string, of func(name string) bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name, number, found := strings.Cut(e.Name(), ".tmp-") // see replaceAt
		if _, nan := strconv.ParseUint(number, 10, 64); !found || nan != nil || !e.Type().IsRegular() {
			continue
		}
		if base, hidden := strings.CutPrefix(name, "."); hidden && of(base) {
			err = errors.Join(err, discard(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// Follow returns the file to which a path leads through symbolic links, whether or not it
// exists: a link to nothing names a file to be created.
func Follow(path string) (string, error) {
	const most = 40 // as the kernel's
	for range most {
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return "", err
		}
		path = filepath.Join(dir, filepath.Base(path))
		target, err := os.Readlink(path)
		if err != nil {
			return path, nil // no link: a file, or it does not exist
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(dir, target)
		}
		path = target
	}
	return "", &os.PathError{Op: "open", Path: path, Err: syscall.ELOOP}
}

// fill writes the content of f and closes it in every case.
func fill(o ops, f *os.File, write func(*os.File) error, mode os.FileMode, like os.FileInfo) error {
	err := own(f, like)
	if err == nil {
		err = f.Chmod(mode) // after the change of owner, which clears mode bits
	}
	if err == nil {
		err = write(f)
	}
	if err == nil {
		err = o.sync(f)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// own sets the owner of f to that of another file.
func own(f *os.File, like os.FileInfo) error {
	if like == nil {
		return nil
	}
	want, ok := like.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil {
		return err
	} else if have, ok := info.Sys().(*syscall.Stat_t); ok && have.Uid == want.Uid && have.Gid == want.Gid {
		return nil
	}
	return f.Chown(int(want.Uid), int(want.Gid))
}

// content returns a function that writes data.
func content(o ops, data []byte) func(*os.File) error {
	return func(f *os.File) error { return writeAll(o, f, data) }
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

// Remove deletes a file and makes that durable. A file that does not exist is not an error.
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

// Pattern returns a pattern of filepath.Glob that matches only the path itself.
func Pattern(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
