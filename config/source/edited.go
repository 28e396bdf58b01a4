package source

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Edited are texts that count in place of those of files, by absolute path: what a person edits
// and has not saved yet. The files need not exist.
type Edited map[string][]byte

// names returns the sorted names in a directory that kept accepts; nil = all.
func (e Edited) names(dir string, kept func(fs.DirEntry) bool) ([]string, error) {
	var names []string
	for path := range e {
		if filepath.Dir(path) == filepath.Clean(dir) {
			names = append(names, filepath.Base(path))
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil && len(names) == 0 {
		return nil, err
	}
	for _, entry := range entries {
		if kept == nil || kept(entry) {
			names = append(names, entry.Name())
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// read returns the text of a file.
func (e Edited) read(path string) ([]byte, error) {
	text, ok := e[filepath.Clean(path)]
	switch {
	case !ok:
		return readRegular(path)
	case len(text) > MaxFileSize:
		return nil, errTooLarge
	}
	return text, nil
}
