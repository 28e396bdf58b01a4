package e2e

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"

	"deployster/internal/base/proc"
)

// nowhere looks for texts wherever a secret could be left: in all that
// containerd keeps (images, database, snapshots, log), in the sockets' directory
// with the input and output of what runs, in the records, and in the
// environment and the arguments of every process of this machine. The input and
// the output of what runs just now may hold them, in files that only root can
// read.
func nowhere(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: nowhere TEXT...")
	}
	data := ts.Getenv("DEPLOYSTER_DATA_DIR")
	dirs := []string{data, ts.MkAbs(".deployster")}
	if lock, err := os.ReadFile(filepath.Join(data, "server.lock")); err == nil {
		_, runtime, _ := strings.Cut(string(lock), "runtime directory ")
		dirs = append(dirs, strings.TrimSpace(runtime))
	}
	seen := 0
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return nil // gone meanwhile, or no file
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return nil
			}
			seen++
			if text := among(content, args); text != "" && !onlyForRoot(path) {
				ts.Fatalf("%q is in %s", text, path)
			}
			return nil
		})
		ts.Check(err)
	}
	processes, _ := proc.Files("")
	for _, p := range processes {
		for _, file := range []string{"environ", "cmdline"} {
			content, err := os.ReadFile(filepath.Join(p, file))
			if err != nil {
				continue // it has ended
			}
			seen++
			if text := among(content, args); text != "" {
				command, _ := os.ReadFile(filepath.Join(p, "cmdline"))
				ts.Fatalf("%q is in %s/%s, which is %q: %q", text, p, file, command, content)
			}
		}
	}
	if seen < 50 {
		ts.Fatalf("only %d files were looked at", seen)
	}
	fmt.Fprintf(ts.Stdout(), "%d files\n", seen)
}

func among(content []byte, texts []string) string {
	for _, t := range texts {
		if bytes.Contains(content, []byte(t)) {
			return t
		}
	}
	return ""
}

// onlyForRoot reports whether a file is the input or output of what runs, and
// nobody else can come to it.
func onlyForRoot(path string) bool { return strings.Contains(path, "/io/") && isPrivate(path) }

// isPrivate reports whether only root can open a file and its directory.
func isPrivate(path string) bool {
	file, err := os.Stat(path)
	if err != nil {
		return true // what ran has ended
	}
	dir, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return true
	}
	owner, ok := file.Sys().(*syscall.Stat_t)
	return file.Mode().Perm() == 0o600 && dir.Mode().Perm() == 0o700 && ok && owner.Uid == 0
}
