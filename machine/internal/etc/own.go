package etc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"deployster/machine/internal/access"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

// ownFile is a file that belongs to one resource alone. It belongs to root.
type ownFile struct {
	machine *access.Machine
	path    string
	mode    uint32
}

// found is what is at the path of a file.
type found struct {
	there bool
	text  string
	link  string // where it leads, if it is a link
	mode  uint32
	owner string
}

// root is the owner that the file is to have.
const root = "0:0"

// read returns what is at the path. Something that is neither a file nor a link is an error.
func (f ownFile) read() (found, error) {
	info, err := os.Lstat(f.machine.Path(f.path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return found{}, nil
	case err != nil:
		return found{}, err
	case info.Mode()&fs.ModeSymlink != 0:
		link, err := os.Readlink(f.machine.Path(f.path))
		return found{there: true, link: link}, err
	case !info.Mode().IsRegular():
		return found{}, protocol.Errorf(protocol.ConfigError, "/name", "%s is not a regular file: remove it first", f.path)
	}
	text, err := os.ReadFile(f.machine.Path(f.path))
	stat := info.Sys().(*syscall.Stat_t)
	return found{there: true, text: string(text), mode: stat.Mode & 0o7777, owner: fmt.Sprintf("%d:%d", stat.Uid, stat.Gid)}, err
}

// differences returns how the file that was found differs from one with a text, at a JSON pointer of
// the config.
func (f ownFile) differences(h found, text, pointer string) (list []protocol.Reason) {
	switch {
	case !h.there:
		return []protocol.Reason{{Message: f.path + " does not exist"}}
	case h.link != "":
		return []protocol.Reason{{Message: f.path + " is a link to " + h.link + ", and is replaced"}}
	}
	if h.text != text {
		r := protocol.Reason{Path: pointer, Message: f.path + " has another content"}
		r.Have, _ = json.Marshal(h.text)
		r.Want, _ = json.Marshal(text)
		list = append(list, r)
	}
	if h.mode != f.mode {
		list = append(list, protocol.Reason{Message: fmt.Sprintf("%s has the mode %04o, and must have %04o", f.path, h.mode, f.mode)})
	}
	if h.owner != root {
		list = append(list, protocol.Reason{Message: fmt.Sprintf("%s belongs to %s, and must belong to root", f.path, h.owner)})
	}
	return list
}

// write writes the file, after validate has accepted the new one.
func (f ownFile) write(ctx context.Context, text string, validate func(context.Context, string) error) error {
	unlock, err := replace.Lock(ctx, f.machine, f.path)
	if err != nil {
		return err
	}
	defer unlock()
	zero := 0
	return replace.File(ctx, f.machine, f.path, replace.Change{Content: strings.NewReader(text), Mode: &f.mode, UID: &zero, GID: &zero,
		Validate: validate})
}

// remove removes the file, if it exists.
func (f ownFile) remove(ctx context.Context) error {
	if !f.hasDirectory() {
		return nil
	}
	unlock, err := replace.Lock(ctx, f.machine, f.path)
	if err != nil {
		return err
	}
	defer unlock()
	return replace.Remove(f.machine, f.path)
}

func (f ownFile) hasDirectory() bool {
	info, err := os.Stat(f.machine.Path(filepath.Dir(f.path)))
	return err == nil && info.IsDir()
}

// needsDirectory returns the reason for a directory that a package brings and that does not exist.
func (f ownFile) needsDirectory(which string) (protocol.Reason, bool) {
	return protocol.Reason{Path: "/name", Message: filepath.Dir(f.path) + " does not exist yet: the package " + which + " brings it"},
		!f.hasDirectory()
}

// ended returns a text with a newline at its end.
func ended(text string) string {
	if strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// entries returns the names of the regular files in a directory; none if it does not exist.
func entries(m *access.Machine, directory string) (names []string, err error) {
	list, err := os.ReadDir(m.Path(directory))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range list {
		if e.Type().IsRegular() && !replace.Temporary(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, err
}
