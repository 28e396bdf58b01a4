package text

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

// maxSize is the largest file that is edited.
const maxSize = 16 << 20

// textFile is the file of which a resource is a part.
type textFile struct {
	machine *access.Machine
	path    string // where the links lead
}

// openText returns the file at a path, following links.
func openText(m *access.Machine, path string) (textFile, error) {
	if err := m.CheckPath("/path", path); err != nil {
		return textFile{}, err
	}
	real, err := files.Followed(m, path)
	return textFile{m, real}, err
}

// read returns the content; exists is false if there is no file.
func (f textFile) read() (d document, exists bool, err error) {
	info, err := os.Lstat(f.machine.Path(f.path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case !info.Mode().IsRegular():
		return nil, false, protocol.Errorf(protocol.ConfigError, "/path", "%s is not a regular file", f.path)
	case info.Size() > maxSize:
		return nil, false, protocol.Errorf(protocol.ConfigError, "/path", "%s has %d bytes, and at most %d are edited",
			f.path, info.Size(), maxSize)
	}
	content, err := os.ReadFile(f.machine.Path(f.path))
	return parse(string(content)), err == nil, err
}

// edit replaces the content by what change makes of it, if that differs.
func (f textFile) edit(ctx context.Context, validate []string, change func(document) (document, error)) error {
	if _, err := os.Stat(f.machine.Path(filepath.Dir(f.path))); errors.Is(err, fs.ErrNotExist) {
		return f.missing()
	}
	unlock, err := replace.Lock(ctx, f.machine, f.path)
	if err != nil {
		return err
	}
	defer unlock()
	old, exists, err := f.read()
	switch {
	case err != nil:
		return err
	case !exists:
		return f.missing()
	}
	changed, err := change(old)
	if err != nil || changed.String() == old.String() {
		return err
	}
	return replace.File(ctx, f.machine, f.path, replace.Change{Content: strings.NewReader(changed.String()),
		Validate: replace.Validator(f.machine, validate), Mounted: true})
}

func (f textFile) missing() error {
	return fmt.Errorf("%s does not exist: depend on the resource that makes it, such as a package or a file", f.path)
}

// notYet is the reason for a part of a file that does not exist.
func notYet(path string) protocol.Reason {
	return protocol.Reason{Path: "/path", Message: "the file " + path + " does not exist yet"}
}

// edges are what a part of a file comes after.
func edges() []protocol.AutoEdge {
	return []protocol.AutoEdge{{Kind: "linux/file", By: "/path"}, {Kind: "linux/directory", By: "/path", Parents: true}}
}
