package imagefiles

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// askPython prints the paths of an interpreter and its standard library.
const askPython = `import json, sys, sysconfig
paths = sysconfig.get_paths()
print(json.dumps({"program": sys.executable, "libraries": [paths["stdlib"], paths["platstdlib"]]}))`

// authorities is the file with the certificates that HTTPS needs.
const authorities = "/etc/ssl/certs/ca-certificates.crt"

// unneeded are parts of the standard library that no type needs in a container.
var unneeded = []string{"__pycache__", "test", "tests", "idlelib", "turtledemo", "tkinter", "ensurepip", "site-packages", "dist-packages"}

// AddPython adds the Python of this machine: the interpreter at its own path, its
// standard library, and the libraries that its modules need, such as those of ssl,
// sqlite3 and lzma. The certificates of this machine are included.
func (s *Set) AddPython(ctx context.Context) error {
	found, err := exec.LookPath("python3")
	if err != nil {
		return fmt.Errorf("there is no python3 on this machine (apt-get install python3 installs it)")
	}
	asked, cancel := context.WithTimeout(ctx, linkerLimit)
	defer cancel()
	out, err := exec.CommandContext(asked, found, "-I", "-c", askPython).Output()
	var python struct {
		Program   string
		Libraries []string
	}
	if err == nil {
		err = json.Unmarshal(out, &python)
	}
	if err != nil {
		return fmt.Errorf("%s does not print the paths of its libraries: %w", found, err)
	}
	if err := s.AddProgram(ctx, python.Program); err != nil {
		return err
	}
	if python.Program != "/usr/bin/python3" {
		link := file{mode: fs.ModeSymlink | 0o777, link: python.Program}
		if err := s.put("/usr/bin/python3", link); err != nil {
			return err
		}
	}
	slices.Sort(python.Libraries)
	for _, dir := range slices.Compact(python.Libraries) {
		if err := s.addStandard(dir); err != nil {
			return err
		}
	}
	if _, err := os.Stat(authorities); err == nil {
		if err := s.addFile(authorities, authorities, along); err != nil {
			return err
		}
	}
	return s.AddLibraries(ctx)
}

// addStandard adds Python's standard library at its own path.
func (s *Set) addStandard(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	s.roots = append(s.roots, root)
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || name == ".":
			return err
		case d.IsDir() && (slices.Contains(unneeded, d.Name()) || strings.HasPrefix(d.Name(), "config-")):
			return fs.SkipDir
		case d.Type()&fs.ModeSymlink != 0:
			// Its target may be elsewhere, so the file itself is added in place of the link.
			if real, err := filepath.EvalSymlinks(filepath.Join(dir, name)); err == nil {
				return s.addFile(real, path.Join(dir, name), along)
			}
			return nil
		}
		return s.addFrom(root, name, path.Join(dir, name), along)
	})
}
