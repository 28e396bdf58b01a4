package migrate

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"deployster/internal/base/diag"
)

// Write writes the files into a directory, all of them or none. It overwrites no file.
func (r Result) Write(dir string) (err error) {
	var written []string
	defer func() {
		for _, path := range written {
			if err != nil {
				err = errors.Join(err, os.Remove(path))
			}
		}
	}()
	for _, name := range slices.Sorted(maps.Keys(r.Files)) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return diag.Errorf("Cannot write the manifests", "%s. Nothing was written.", err)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, os.ErrExist) {
			return diag.Errorf("A file exists already", "%s exists, and is not replaced: remove it, or name another directory with "+
				"-out. Nothing was written.", path)
		}
		if err != nil {
			return diag.Errorf("Cannot write the manifests", "%s. Nothing was written.", err)
		}
		written = append(written, path)
		_, err = f.Write(r.Files[name])
		if err = errors.Join(err, f.Close()); err != nil {
			return diag.Errorf("Cannot write the manifests", "%s. Nothing was written.", err)
		}
	}
	return nil
}
