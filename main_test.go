package main

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain lets the test binary be the program when it is called by one of its
// names.
func TestMain(m *testing.M) {
	if strings.HasSuffix(filepath.Base(os.Args[0]), ".test") {
		os.Exit(m.Run())
	}
	main()
}

// The name that the program is called with decides what it is.
func TestMain_Names(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, arg string
		code      int
		prints    string
	}{
		{"deployster", "version", 0, "deployster "},
		{"any-other-name", "version", 0, "deployster "},
		{"deployster-containerd", "-wrong", 2, "-wrong"},
		{"containerd-shim-runc-v2", "-v", 0, "Version"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(self, c.arg)
			cmd.Args[0] = filepath.Join(t.TempDir(), c.name)
			out, _ := cmd.CombinedOutput() // its exit code says it
			if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(string(out), c.prints) {
				t.Errorf("exit code %d, want %d; it printed %s", code, c.code, out)
			}
		})
	}
}

// A program that was built here by hand is easily committed with the rest: once one of 37 MB was.
func TestTree_HoldsNoPrograms(t *testing.T) {
	t.Parallel()
	seen := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (path == ".git" || path == "bin") {
			return filepath.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		start := make([]byte, 4)
		n, err := io.ReadFull(f, start)
		if seen++; err == nil && bytes.Equal(start[:n], []byte("\x7fELF")) {
			t.Errorf("%s is a program: remove it, or build it into bin", path)
		}
		return nil
	})
	if err != nil || seen < 1000 {
		t.Errorf("%d files were seen: %v", seen, err)
	}
}
