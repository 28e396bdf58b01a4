package accounts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"deployster/machine/internal/access"
)

// nowhere is the home of users who are to have none: it is never made.
const nowhere = "/nonexistent"

// lacksHome reports whether the home directory of the config does not exist.
func (k User) lacksHome(c *userCall) bool {
	if c.Config.Home == "" || c.Config.Home == nowhere {
		return false
	}
	_, err := os.Stat(k.machine.Path(c.Config.Home))
	return errors.Is(err, fs.ErrNotExist)
}

// makeHome makes a home directory that does not exist, as useradd does. That of a user of the system is empty, and nobody
// else can enter it. It is made next to its place: there is never a half of one.
func (k User) makeHome(c *userCall) error {
	if !k.lacksHome(c) {
		return nil
	}
	d, err := read(k.machine)
	if err != nil {
		return err
	}
	u := d.user(c.Config.Name)
	if u == nil {
		return fmt.Errorf("the user %s was removed meanwhile", c.Config.Name)
	}
	if err := k.madeHome(u, c.Config.System); err != nil {
		return fmt.Errorf("the home directory of %s: %w", u.name, err)
	}
	return nil
}

func (k User) madeHome(u *account, system bool) error {
	path := k.machine.Path(u.home)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	next := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".deployster-home")
	if err := os.RemoveAll(next); err != nil { // of an action that was killed
		return err
	}
	if err := os.Mkdir(next, 0o700); err != nil {
		return err
	}
	mode := fs.FileMode(0o700)
	var err error
	if !system {
		if mode, err = homeMode(k.machine); err == nil {
			err = filled(next, k.machine.Path("/etc/skel"), u)
		}
	}
	if err == nil {
		err = os.Chmod(next, mode)
	}
	if err == nil {
		err = os.Lchown(next, u.uid, u.gid)
	}
	if err == nil {
		err = os.Rename(next, path) // of directories, it replaces only an empty one
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(next))
	}
	return nil
}

// homeMode returns the mode of new home directories: /etc/login.defs has it, or what is removed from it.
func homeMode(m *access.Machine) (fs.FileMode, error) {
	text, err := os.ReadFile(m.Path("/etc/login.defs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	mode := fs.FileMode(0o755)
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 2 || f[0] != "HOME_MODE" && f[0] != "UMASK" {
			continue
		}
		number, err := strconv.ParseUint(f[1], 8, 9)
		switch {
		case err != nil:
			return 0, fmt.Errorf("/etc/login.defs: %s %s is not a mode", f[0], f[1])
		case f[0] == "HOME_MODE":
			return fs.FileMode(number), nil
		}
		mode = 0o777 &^ fs.FileMode(number)
	}
	return mode, nil
}

// filled copies what each new home directory has, for its owner. Nobody else can enter the directory yet.
func filled(home, skeleton string, u *account) error {
	return filepath.WalkDir(skeleton, func(from string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && from == skeleton {
			return nil
		}
		if err != nil || from == skeleton {
			return err
		}
		to := filepath.Join(home, strings.TrimPrefix(from, skeleton))
		if err := copied(from, to, entry); err != nil {
			return err
		}
		return os.Lchown(to, u.uid, u.gid)
	})
}

func copied(from, to string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	switch {
	case info.IsDir():
		if err := os.Mkdir(to, 0o700); err != nil {
			return err
		}
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	case info.Mode().IsRegular():
		content, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := os.WriteFile(to, content, 0o600); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%s is neither a file, a directory nor a link", from)
	}
	return os.Chmod(to, info.Mode().Perm())
}
