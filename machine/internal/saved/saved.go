package saved

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"deployster/machine/internal/access"
	"deployster/machine/internal/replace"
)

// Directory is a directory of the machine for one undo.
type Directory struct {
	Machine *access.Machine
	Path    string
}

func (d Directory) at(name string) string { return d.Machine.Path(filepath.Join(d.Path, name)) }

// Put keeps a value under a name.
func (d Directory) Put(name string, v any) error {
	content, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return d.write(name, content)
}

// Get reads a value that was kept under a name.
func (d Directory) Get(name string, v any) error {
	content, err := os.ReadFile(d.at(name))
	if err != nil {
		return err
	}
	return json.Unmarshal(content, v)
}

// write writes a file that only root can read.
func (d Directory) write(name string, content []byte) error {
	file, err := os.OpenFile(d.at(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	parent, err := os.Open(d.Machine.Path(d.Path))
	if err != nil {
		return err
	}
	return errors.Join(parent.Sync(), parent.Close())
}

// file is a file as it was.
type file struct {
	Path    string `json:"path"`
	There   bool   `json:"there,omitempty"`
	Link    string `json:"link,omitempty"` // where it led; "" = it was a regular file
	Mode    uint32 `json:"mode,omitempty"`
	UID     int    `json:"uid,omitempty"`
	GID     int    `json:"gid,omitempty"`
	InPlace bool   `json:"in_place,omitempty"`
}

// The ends of the names under which a file is kept.
const (
	aboutEnd   = ".json"
	contentEnd = ".content"
)

// PutFile keeps a file, a link, or that there is none at the path. inPlace: it is restored by
// writing into it.
func (d Directory) PutFile(name, path string, inPlace bool) error {
	f := file{Path: path, InPlace: inPlace}
	info, err := os.Lstat(d.Machine.Path(path))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return d.Put(name+aboutEnd, f)
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		if f.Link, err = os.Readlink(d.Machine.Path(path)); err != nil {
			return err
		}
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file, and cannot be restored by an undo", path)
	default:
		content, err := os.ReadFile(d.Machine.Path(path))
		if err != nil {
			return err
		}
		if err := d.write(name+contentEnd, content); err != nil {
			return err
		}
	}
	f.There = true
	if had, ok := info.Sys().(*syscall.Stat_t); ok {
		f.Mode, f.UID, f.GID = had.Mode&0o7777, int(had.Uid), int(had.Gid)
	}
	return d.Put(name+aboutEnd, f)
}

// RestoreFile makes a path what it was when it was kept under a name.
func (d Directory) RestoreFile(ctx context.Context, name string) error {
	var f file
	if err := d.Get(name+aboutEnd, &f); err != nil {
		return err
	}
	if _, err := os.Lstat(d.Machine.Path(filepath.Dir(f.Path))); !f.There && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	unlock, err := replace.Lock(ctx, d.Machine, f.Path)
	if err != nil {
		return err
	}
	defer unlock()
	switch {
	case !f.There:
		return replace.Remove(d.Machine, f.Path)
	case f.Link != "":
		return replace.Link(d.Machine, f.Path, f.Link)
	}
	content, err := os.ReadFile(d.at(name + contentEnd))
	if err != nil {
		return err
	}
	return replace.File(ctx, d.Machine, f.Path, replace.Change{Content: bytes.NewReader(content), Mode: &f.Mode, UID: &f.UID, GID: &f.GID,
		InPlace: f.InPlace})
}
