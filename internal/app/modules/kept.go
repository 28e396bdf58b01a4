package modules

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"
)

// kept is the directory of packages on this machine: one directory for each, with the hash of its tree as
// the name.
type kept struct{ dir string }

// errGone is the error about a package that is not kept.
var errGone = errors.New("it is not on this machine")

// changedError reports a package whose files were changed on this machine.
type changedError struct{ at, have string }

func (e *changedError) Error() string { return "its files in " + e.at + " were changed" }

// place returns where a package is kept.
func (k kept) place(hash string) string { return filepath.Join(k.dir, hash) }

// read returns a package whose files have the hash.
func (k kept) read(hash string) (*tree, error) {
	at := k.place(hash)
	if _, err := os.Lstat(at); errors.Is(err, fs.ErrNotExist) || k.dir == "" {
		return nil, errGone
	}
	t, err := readTree(at, nil)
	if err != nil {
		return nil, &changedError{at, err.Error()}
	}
	if have := t.hash(hash); have != hash {
		return nil, &changedError{at, have}
	}
	return t, nil
}

// write keeps a package.
func (k kept) write(t *tree, hash string) error {
	if k.dir == "" {
		return errors.New("there is no directory to keep it in: there is no home directory, so set XDG_CACHE_HOME")
	}
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(k.dir, ".new-")
	if err != nil {
		return err
	}
	err = writeTree(fresh, t)
	if err == nil {
		if err = os.Rename(fresh, k.place(hash)); err != nil { // another command may have kept it meanwhile
			if _, there := k.read(hash); there == nil {
				err = nil
			}
		}
	}
	return errors.Join(err, os.RemoveAll(fresh))
}

// drop removes a package whose files were changed.
func (k kept) drop(hash string) error { return os.RemoveAll(k.place(hash)) }

// writeTree writes a tree into an empty directory.
func writeTree(to string, t *tree) error {
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // it is only a handle
	// Links last: no file is then written through one.
	for _, links := range []bool{false, true} {
		for _, name := range slices.Sorted(maps.Keys(t.entries)) {
			e := t.entries[name]
			if links != (e.mode == modeLink) {
				continue
			}
			if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
				return err
			}
			mode := fs.FileMode(0o600)
			switch e.mode {
			case modeLink:
				err = root.Symlink(string(e.content), name)
			case modeProgram:
				mode = 0o700
				fallthrough
			default:
				err = root.WriteFile(name, e.content, mode)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// readTree reads the files below a directory, without those that skip selects.
func readTree(from string, skip func(name string) bool) (*tree, error) {
	root, err := os.OpenRoot(from)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was only read
	t := newTree()
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		switch skipped := skip != nil && skip(name); {
		case skipped && d.IsDir():
			return fs.SkipDir
		case skipped, d.IsDir():
			return nil
		}
		e, err := readEntry(root, name, d, maxBytes-t.size)
		if err != nil {
			return err
		}
		return t.add(name, e)
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// readEntry reads one file or link that has at most room bytes.
func readEntry(root *os.Root, name string, d fs.DirEntry, room int) (entry, error) {
	switch d.Type() {
	case fs.ModeSymlink:
		target, err := root.Readlink(name)
		return entry{modeLink, []byte(target)}, err
	case 0:
	default:
		return entry{}, fmt.Errorf("%s is neither a file, a directory nor a symbolic link", name)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return entry{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return entry{}, err
	}
	mode := modeFile
	if info.Mode()&0o100 != 0 {
		mode = modeProgram
	}
	content, err := io.ReadAll(io.LimitReader(f, int64(room)+1))
	return entry{mode, content}, err
}
