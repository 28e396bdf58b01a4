package rootless

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"deployster/internal/base/diag"
)

// RuntimeDir returns the directory for what ends with the session of the user, such as sockets, and
// creates it: below XDG_RUNTIME_DIR, else below the directory that a login makes, else in /tmp.
func RuntimeDir() (string, error) {
	uid := UserID()
	for _, dir := range []string{os.Getenv("XDG_RUNTIME_DIR"), fmt.Sprintf("/run/user/%d", uid)} {
		if filepath.IsAbs(dir) && own(dir) {
			dir = filepath.Join(dir, "deployster")
			return dir, os.MkdirAll(dir, 0o700)
		}
	}
	dir := fmt.Sprintf("/tmp/deployster-%d", uid)
	if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
		return "", err
	}
	if !own(dir) {
		return "", diag.Errorf("The run-time directory "+dir+" is not usable",
			"XDG_RUNTIME_DIR names no directory of yours, and %s is not yours, or others may write there. Remove it, or set "+
				"XDG_RUNTIME_DIR to a directory that only you can use.", dir)
	}
	return dir, nil
}

// own reports whether a path is a directory of this user, to which nobody else may write.
func own(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o022 != 0 {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
