package content

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"deployster/machine/internal/files"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

// Write makes the directory what the source is: each file is whole at any time, and what is to go
// goes last. The record is written first, so that what a kill leaves is known as this resource's.
func (k Tree) Write(ctx context.Context, c *treeCall) error {
	have, err := k.Read(ctx, c)
	if err != nil {
		return err
	}
	want, err := k.source(c)
	if err != nil {
		return err
	}
	owners, unlock, err := lock(ctx, k.Machine, c.Config.Path, files.Attributes{Owner: c.Config.Owner, Group: c.Config.Group})
	if err != nil {
		return err
	}
	defer unlock()
	r := record{}
	for name := range want.leaves {
		r[name] = ""
	}
	var gone []string
	if have != nil {
		gone = have.stale
		if c.Config.Delete {
			gone = slices.Concat(gone, have.more)
		}
	}
	for _, name := range have.earlier() {
		r[name] = ""
	}
	was, err := readRecord(k.Machine, c.Config.Path)
	if err != nil {
		return err
	}
	for _, name := range want.directories {
		r[name+"/"] = directoryEntry
	}
	maps.Copy(r, was.directories())
	if err := r.write(ctx, k.Machine, c.Config.Path); err != nil {
		return err
	}
	p := planter{k, c, owners}
	if gone, err = p.clear(gone, was.directories().names(), want); err != nil {
		return err
	}
	for _, name := range append([]string{"."}, want.directories...) {
		if err := p.directory(filepath.Join(c.Config.Path, name)); err != nil {
			return err
		}
	}
	for name, l := range want.leaves {
		if err := p.leaf(ctx, name, l); err != nil {
			return err
		}
	}
	return p.settle(ctx, r, gone, was.directories().names(), want.directories)
}

// earlier returns what came from an earlier source.
func (s *TreeState) earlier() []string {
	if s == nil {
		return nil
	}
	return s.stale
}

// displaces reports whether a tree has something else where a file or link of that name is: a directory in its place, or a file
// or link in the place of a directory that it is in.
func (t tree) displaces(name string) bool {
	if slices.Contains(t.directories, name) {
		return true
	}
	for directory := filepath.Dir(name); directory != "."; directory = filepath.Dir(directory) {
		if _, is := t.leaves[directory]; is {
			return true
		}
	}
	return false
}

// clear removes what is in the place of something else that the source has, and returns what is to go later. Unless all that
// others put there is to go, it is from an earlier source: see Tree.Read.
func (p planter) clear(gone, former []string, want tree) (later []string, err error) {
	var first []string
	for _, name := range gone {
		if want.displaces(name) {
			first = append(first, name)
		} else {
			later = append(later, name)
		}
	}
	if err := p.remove(first, want.directories); err != nil {
		return nil, err
	}
	for _, name := range slices.Backward(former) {
		name = strings.TrimSuffix(name, "/")
		if _, is := want.leaves[name]; is || want.displaces(name) && !slices.Contains(want.directories, name) {
			if err := p.removeEmpty(name); err != nil {
				return nil, err
			}
		}
	}
	return later, nil
}

// settle removes what is to go, and writes the record of the files.
func (p planter) settle(ctx context.Context, r record, gone, former, keep []string) error {
	if err := p.remove(gone, keep); err != nil {
		return err
	}
	now, err := recordOf(p.k.Machine.Path(p.c.Config.Path))
	if err != nil {
		return err
	}
	for _, name := range former {
		if !slices.Contains(keep, strings.TrimSuffix(name, "/")) {
			if err := p.removeEmpty(name); err != nil {
				return err
			}
			delete(r, name)
		}
	}
	for name, what := range r {
		if what == directoryEntry {
			continue
		}
		if r[name] = now[name]; now[name] == "" {
			delete(r, name)
		}
	}
	return r.write(ctx, p.k.Machine, p.c.Config.Path)
}

// planter puts the files of a source into a directory.
type planter struct {
	k      Tree
	c      *treeCall
	owners replace.Change
}

func (p planter) mode(executable bool) *uint32 {
	n, err := strconv.ParseUint(modeOf(p.c.Config.Mode, executable), 8, 32)
	if err != nil {
		return nil // it is not managed
	}
	mode := uint32(n)
	return &mode
}

func (p planter) directory(path string) error {
	properties := replace.Properties{Mode: p.mode(true), UID: p.owners.UID, GID: p.owners.GID}
	info, err := os.Lstat(p.k.Machine.Path(path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return replace.MakeDirectory(p.k.Machine, path, properties)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory, and is not replaced by one: remove it first", path)
	}
	return replace.ChangeDirectory(p.k.Machine, path, properties)
}

func (p planter) leaf(ctx context.Context, name string, want leaf) error {
	path := filepath.Join(p.c.Config.Path, name)
	real := p.k.Machine.Path(path)
	info, err := os.Lstat(real)
	if err == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory, and is not replaced by a file: remove it first", path)
	}
	if want.link != "" {
		if target, err := os.Readlink(real); err != nil || target != want.link {
			if err := replace.Link(p.k.Machine, path, want.link); err != nil {
				return err
			}
		}
		return lchown(real, p.owners)
	}
	change := p.owners
	change.Mode = p.mode(want.executable)
	same := false
	if err == nil && info.Mode().IsRegular() {
		have, err := readLeaf(real, fs.FileInfoToDirEntry(info))
		if err != nil {
			return err
		}
		same = have.sum == want.sum
		if change.Mode == nil && have.executable != want.executable {
			mode := uint32(info.Mode().Perm()) &^ 0o111
			if want.executable {
				mode |= mode & 0o444 >> 2
			}
			change.Mode = &mode
		}
	} else if change.Mode == nil && want.executable {
		mode := uint32(0o755)
		change.Mode = &mode
	}
	if !same {
		source, err := os.Open(filepath.Join(located(p.k.Machine, p.c.Config.Source), name))
		if err != nil {
			return err
		}
		defer func() { _ = source.Close() }()
		change.Content = verify(source, name+" of the source", want.sum)
	}
	return replace.File(ctx, p.k.Machine, path, change)
}

func lchown(real string, owners replace.Change) error {
	uid, gid := -1, -1
	if owners.UID != nil {
		uid = *owners.UID
	}
	if owners.GID != nil {
		gid = *owners.GID
	}
	return os.Lchown(real, uid, gid)
}

// remove removes names, and the directories that are empty after it, but for those to be kept. A directory that somebody has put in
// the place of a file stays, and so does all that a link in the place of a directory leads to.
func (p planter) remove(names, keep []string) error {
	for _, name := range slices.Backward(names) {
		if p.isDirectory(name) || !p.isDirectory(filepath.Dir(name)) {
			continue
		}
		if err := replace.Remove(p.k.Machine, filepath.Join(p.c.Config.Path, name)); err != nil {
			return err
		}
		for directory := filepath.Dir(name); directory != "." && !slices.Contains(keep, directory); directory = filepath.Dir(directory) {
			if err := p.removeEmpty(directory); err != nil {
				return err
			}
		}
	}
	return nil
}

// isDirectory reports whether a name is a directory of the tree, without a link on the way to it.
func (p planter) isDirectory(name string) bool {
	for ; ; name = filepath.Dir(name) {
		info, err := os.Lstat(p.k.Machine.Path(filepath.Join(p.c.Config.Path, name)))
		if err != nil || !info.IsDir() {
			return false
		}
		if name == "." {
			return true
		}
	}
}

// removeEmpty removes a directory, if it is empty.
func (p planter) removeEmpty(name string) error {
	if !p.isDirectory(name) {
		return nil
	}
	err := replace.RemoveDirectory(p.k.Machine, filepath.Join(p.c.Config.Path, name))
	if errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) {
		return nil
	}
	return err
}

// PlanAbsence calls the removal destructive where it removes what others put there.
func (k Tree) PlanAbsence(_ context.Context, c *treeCall, have *TreeState) (*protocol.Plan, error) {
	action := protocol.Action{Name: "delete", Description: "Remove what came from the source"}
	switch {
	case len(have.more) > 0 && c.Config.Delete:
		action.Destructive, action.Description = true, action.Description+", and what others put there: "+some(have.more)
	case len(have.more) > 0:
		action.Description += "; what others put there stays: " + some(have.more)
	}
	return &protocol.Plan{Actions: []protocol.Action{action}}, nil
}

// Delete removes what came from the source, with delete also all else, and then the directory if
// it is empty.
func (k Tree) Delete(ctx context.Context, c *treeCall) error {
	was, err := readRecord(k.Machine, c.Config.Path)
	if err != nil {
		return err
	}
	unlock, err := replace.Lock(ctx, k.Machine, c.Config.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unlock()
	if c.Config.Delete {
		if err := replace.RemoveAll(k.Machine, c.Config.Path); err != nil {
			return err
		}
		return replace.Remove(k.Machine, recordPath(c.Config.Path))
	}
	p := planter{k: k, c: c}
	if err := p.remove(was.leaves(), nil); err != nil {
		return err
	}
	for _, name := range slices.Backward(was.directories().names()) {
		if err := p.removeEmpty(name); err != nil {
			return err
		}
	}
	if err := p.removeEmpty("."); err != nil {
		return err
	}
	return replace.Remove(k.Machine, recordPath(c.Config.Path))
}

// Watch reports changes of the directory itself.
func (k Tree) Watch(ctx context.Context, c *treeCall, tell func(detail string)) error {
	return files.Watch(ctx, k.Machine, c.Config.Path, tell)
}
