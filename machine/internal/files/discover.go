package files

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"deployster/machine/internal/access"
	"deployster/machine/internal/replace"
)

// discover calls found for what is below a directory of the machine, in the order of paths.
// It does not enter other directories by links. Where neither a directory nor a prefix is
// given it lists nothing: a machine has too many files.
func discover(ctx context.Context, m *access.Machine, directory, prefix string, log io.Writer,
	found func(string, fs.FileInfo) error) error {
	if directory == "" && prefix == "" {
		_, _ = fmt.Fprintln(log, "nothing is listed: give directory or prefix in the defaults of the type block")
		return nil
	}
	if directory == "" {
		directory = filepath.Dir(prefix + "x")
	}
	if err := m.CheckPath("/directory", directory); err != nil {
		return err
	}
	err := filepath.WalkDir(m.Path(directory), func(real string, entry fs.DirEntry, err error) error {
		path := "/" + strings.TrimPrefix(strings.TrimPrefix(real, m.Root), "/")
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil || m.CheckPath("", path) != nil:
			if entry != nil && entry.IsDir() {
				return fs.SkipDir
			}
			return nil // it was removed meanwhile, or is not to be managed
		case path == directory || !strings.HasPrefix(path, prefix) || replace.Temporary(entry.Name()):
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return nil // removed meanwhile
		}
		return found(path, info)
	})
	return err
}
