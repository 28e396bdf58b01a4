package source

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"
)

// Reader reads files for file() and similar functions: only below the manifest's
// directory, or in a module also below the module's, and the same for the targets of
// symbolic links. It records what it read. On replay it returns only what was recorded.
type Reader struct {
	dir string // of the root manifest
	own string // of the module
	*readFiles
}

// readFiles is the record that the readers of all modules share.
type readFiles struct {
	replay bool
	mu     sync.Mutex
	reads  map[string][]byte   // by slash path relative to the root manifest's directory
	lists  map[string][]string // the results of fileset(), by directory and pattern
	// packages are those of modules from elsewhere, by the directory at which they appear to be. They are only
	// added while manifests are decoded, before any function reads.
	packages map[string]*fetched
}

func newReader(src Sources) *Reader {
	r := &Reader{dir: src.Dir, own: src.Dir, readFiles: &readFiles{replay: src.Replay, reads: map[string][]byte{},
		lists: map[string][]string{}, packages: map[string]*fetched{}}}
	maps.Copy(r.reads, src.Reads)
	maps.Copy(r.lists, src.Lists)
	return r
}

// Inside returns the reader of a module.
func (r *Reader) Inside(dir string) *Reader {
	return &Reader{dir: r.dir, own: dir, readFiles: r.readFiles}
}

// all returns copies of the recorded files and lists.
func (r *Reader) all() (map[string][]byte, map[string][]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.reads), maps.Clone(r.lists)
}

// relative returns a path relative to the manifest's directory, with slashes.
func (r *Reader) relative(path string) (string, error) {
	rel := filepath.Clean(path)
	if filepath.IsAbs(path) {
		var err error
		if rel, err = filepath.Rel(r.dir, path); err != nil {
			return "", err
		}
	}
	if !filepath.IsLocal(rel) && !r.isOwn(rel) {
		where := fmt.Sprintf("the directory of the manifest (%s)", r.dir)
		if r.own != r.dir {
			where += fmt.Sprintf(" and that of the module (%s)", r.own)
		}
		return "", fmt.Errorf("%q is outside %s. Only files in it can be read: copy or move the file there", path, where)
	}
	return filepath.ToSlash(rel), nil
}

// isOwn reports whether a path relative to the manifest's directory is below the module's.
func (r *Reader) isOwn(rel string) bool {
	inside, err := filepath.Rel(r.own, filepath.Join(r.dir, rel))
	return err == nil && filepath.IsLocal(inside)
}

// Read returns the content of a file.
func (r *Reader) Read(path string) ([]byte, error) {
	rel, err := r.relative(path)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if data, ok := r.reads[rel]; ok {
		return data, nil
	}
	if r.replay {
		return nil, fmt.Errorf("%q was not read when the plan was made, so it is not in the plan. Make the plan again", path)
	}
	data, err := r.open(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(filepath.Join(r.own, path)); r.own != r.dir && err == nil {
			return nil, fmt.Errorf("there is no file %q in the directory of the manifest (%s), where relative paths begin, also in a "+
				"module. For that of the module, write \"${path.module}/%s\"", path, r.dir, path)
		}
		return nil, fmt.Errorf("there is no file %q in the directory of the manifest (%s)", path, r.dir)
	case err != nil && strings.Contains(err.Error(), "escapes"):
		return nil, fmt.Errorf("%q leads outside the directory of the manifest (%s) through a symbolic link. Only files in it can be read",
			path, r.dir)
	case err != nil:
		return nil, fmt.Errorf("%q cannot be read: %s", path, reason(err))
	}
	r.reads[rel] = data
	return data, nil
}

func (r *Reader) open(rel string) ([]byte, error) {
	if r.dir == "" {
		return nil, fs.ErrNotExist
	}
	if p, _, inside := r.packageOf(filepath.Join(r.dir, filepath.FromSlash(rel))); p != nil {
		return p.read(inside)
	}
	root, rel, err := r.openRoot(rel)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	// Without O_NONBLOCK a named pipe would block deployster indefinitely.
	f, err := root.OpenFile(filepath.FromSlash(rel), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readOpen(f)
}

// openRoot opens the directory that contains a relative path: the manifest's, or else
// the module's. The returned path is relative to it.
func (r *Reader) openRoot(rel string) (*os.Root, string, error) {
	dir := r.dir
	if !filepath.IsLocal(rel) {
		var err error
		if rel, err = filepath.Rel(r.own, filepath.Join(dir, rel)); err != nil {
			return nil, "", err
		}
		dir = r.own
	}
	root, err := os.OpenRoot(dir)
	return root, rel, err
}

// Exists reports whether a regular file exists. It records a file that it finds, as
// Read does, so that a replay gives the same answer.
func (r *Reader) Exists(path string) (bool, error) {
	rel, err := r.relative(path)
	if err != nil {
		return false, err
	}
	if _, err := r.Read(path); err == nil {
		return true, nil
	}
	if r.replay {
		return false, nil
	}
	_, err = r.open(rel)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return false, fmt.Errorf("%q exists and cannot be used: %s", path, reason(err))
}

// Text is Read for files that must be text.
func (r *Reader) Text(path string) (string, error) {
	data, err := r.Read(path)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(data) {
		return "", fmt.Errorf("%q is not text in UTF-8. Use filebase64() for other files", path)
	}
	return string(data), nil
}
