package source

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"deployster/config/limits"
)

// Match returns the regular files below a directory whose paths relative to it match
// a pattern, sorted. It records the result, as Read does.
func (r *Reader) Match(dir, pattern string) ([]string, error) {
	rel, err := r.relative(dir)
	if err != nil {
		return nil, err
	}
	if !doublestar.ValidatePattern(pattern) {
		return nil, fmt.Errorf("%q is not a pattern such as \"*.txt\" or \"**/*.{yaml,yml}\"", pattern)
	}
	if slices.Contains(strings.Split(pattern, "/"), "..") || strings.HasPrefix(pattern, "/") {
		return nil, fmt.Errorf("%q leads outside the directory %q. Give another directory as the first argument", pattern, dir)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key := rel + "\n" + pattern
	if names, ok := r.lists[key]; ok {
		return names, nil
	}
	if r.replay {
		return nil, fmt.Errorf("the files %q in %q were not listed when the plan was made, so they are not in the plan. Make the plan "+
			"again",
			pattern, dir)
	}
	names, err := r.glob(rel, pattern)
	if err != nil {
		return nil, err
	}
	r.lists[key] = names
	return names, nil
}

func (r *Reader) glob(rel, pattern string) ([]string, error) {
	names := []string{}
	if r.dir == "" {
		return names, nil
	}
	if p, _, inside := r.packageOf(filepath.Join(r.dir, filepath.FromSlash(rel))); p != nil {
		names = append(names, p.glob(inside, pattern)...)
		slices.Sort(names)
		return names, nil
	}
	root, rel, err := r.openRoot(rel)
	if err != nil {
		return nil, fmt.Errorf("the directory of the manifest cannot be read: %s", reason(err))
	}
	defer root.Close()
	counted := &countedFS{FS: root.FS()}
	below, err := fs.Sub(counted, rel)
	if err != nil {
		return nil, err
	}
	found, err := doublestar.Glob(below, pattern, doublestar.WithFilesOnly())
	switch {
	case counted.seen > limits.Elements:
		return nil, fmt.Errorf("there are more than %d files and directories. Give a smaller directory as the first argument",
			limits.Elements)
	case err != nil:
		return nil, fmt.Errorf("the files cannot be listed: %s", reason(err))
	}
	for _, name := range found {
		// A link that leads outside has no file for deployster.
		if info, err := fs.Stat(below, name); err == nil && info.Mode().IsRegular() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// countedFS stops a search after too many entries, such as with links that form a cycle.
type countedFS struct {
	fs.FS
	seen int // entries
}

var errTooMany = errors.New("too many files")

// ReadDir counts the entries of a directory.
func (c *countedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if c.seen > limits.Elements {
		return nil, errTooMany
	}
	list, err := fs.ReadDir(c.FS, name)
	c.seen += len(list) + 1
	return list, err
}
