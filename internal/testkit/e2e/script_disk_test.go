package e2e

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// onNoDisk fails if a text, as it is or in base64, is in a file on a disk: of the script, of the data and run-time
// directories here and on hosts, or of a store. Names of the script's directory before -- are left out.
func onNoDisk(ts *testscript.TestScript, neg bool, args []string) {
	at := slices.Index(args, "--")
	if neg || at < 0 || at+1 == len(args) {
		ts.Fatalf("usage: on-no-disk [EXCEPT...] -- TEXT...")
	}
	except, texts := args[:at], slices.Clone(args[at+1:])
	for _, text := range args[at+1:] {
		texts = append(texts, strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(text)), "=")[:4*(len(text)/3)])
	}
	roots := []string{ts.MkAbs(".")}
	data := []string{ts.Getenv("DEPLOYSTER_DATA_DIR")}
	if hosts := ts.Getenv("HOSTS"); hosts != "" {
		entries, err := os.ReadDir(hosts)
		ts.Check(err)
		for _, e := range entries {
			data = append(data, filepath.Join(hosts, e.Name()))
		}
	}
	for _, dir := range data {
		roots = append(roots, dir)
		lock, err := os.ReadFile(filepath.Join(dir, "server.lock"))
		if _, runtime, found := strings.Cut(string(lock), "runtime directory "); err == nil && found {
			roots = append(roots, strings.TrimSpace(runtime))
		}
	}
	seen := 0
	for _, root := range roots {
		ts.Check(filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil // it is gone meanwhile
			}
			name, _ := filepath.Rel(ts.MkAbs("."), path)
			if slices.Contains(except, name) {
				if e.IsDir() {
					return filepath.SkipDir
				}
				return nil
			}
			if !e.Type().IsRegular() || inMemory(path) {
				return nil
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return nil
			}
			seen++
			if text := among(content, texts); text != "" {
				ts.Fatalf("%q is in %s", text, path)
			}
			return nil
		}))
	}
	if seen < 50 {
		ts.Fatalf("only %d files were read", seen)
	}
	fmt.Fprintf(ts.Stdout(), "%d files\n", seen)
}

func inMemory(path string) bool {
	var at unix.Statfs_t
	return unix.Statfs(path, &at) == nil && at.Type == unix.TMPFS_MAGIC
}
