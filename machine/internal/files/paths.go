package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"deployster/machine/internal/access"
	"deployster/protocol"
)

// absentIsNil turns the errors of what does not exist into nil.
func absentIsNil(info fs.FileInfo, err error) (fs.FileInfo, error) {
	switch {
	case err == nil:
		return info, nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // a parent that is a file: the action reports it
		return nil, nil
	}
	return nil, err
}

// maxLinks is how many links are followed, as by the kernel.
const maxLinks = 40

// Followed returns where the links at a path lead, which need not exist.
func Followed(m *access.Machine, path string) (string, error) {
	way, err := chain(m, path)
	if err != nil {
		return "", err
	}
	end := way[len(way)-1]
	if err := m.CheckPath("/path", end); err != nil || len(way) == 1 {
		return end, err
	}
	owner, err := ownerOf(m, end)
	if err != nil {
		return "", err
	}
	for _, link := range way[:len(way)-1] {
		if uid, err := ownerOf(m, link); err != nil {
			return "", err
		} else if uid != 0 && uid != owner { // else it could lead what root writes to any place
			return "", protocol.Errorf(protocol.ConfigError, "/path",
				"%s is a link of user %d to %s, which belongs to user %d: it is not followed",
				link, uid, end, owner)
		}
	}
	return end, nil
}

// ownerOf returns the owner of what is at a path, or else of the directory in which it would be.
func ownerOf(m *access.Machine, path string) (uint32, error) {
	info, err := lstat(m, path)
	if info == nil && err == nil {
		info, err = stat(m, filepath.Dir(path))
	}
	if info == nil || err != nil {
		return 0, err
	}
	return info.Sys().(*syscall.Stat_t).Uid, nil
}

// chain returns a path, and after it where each link leads.
func chain(m *access.Machine, path string) (way []string, err error) {
	for range maxLinks {
		way = append(way, path)
		info, err := lstat(m, path)
		if err != nil {
			return nil, err
		}
		if info == nil || info.Mode()&fs.ModeSymlink == 0 {
			return way, nil
		}
		target, err := os.Readlink(m.Path(path))
		if err != nil {
			return nil, err
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = filepath.Clean(target)
	}
	return nil, protocol.Errorf(protocol.ConfigError, "/path", "%s: its links lead to no end", way[0])
}

// parent returns an error if the directory of a path does not exist.
func parent(m *access.Machine, path string) error {
	directory := filepath.Dir(path)
	info, err := stat(m, directory)
	switch {
	case err != nil:
		return err
	case info == nil:
		return fmt.Errorf("%s cannot be made: the directory %s does not exist; declare it as a resource of the kind directory", path,
			directory)
	case !info.IsDir():
		return fmt.Errorf("%s cannot be made: %s is %s, not a directory", path, directory, kindOf(info))
	}
	return nil
}
