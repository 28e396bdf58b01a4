package source

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"deployster/internal/runtime/modsource"
	"deployster/internal/runtime/runner"
)

// Packages obtains the modules that are not directories of this machine.
type Packages interface {
	// Package returns the files of a package, by the path in it, and its symbolic links, which lead
	// to others of its files. verify is the signature that an image must have; nil = none.
	Package(a modsource.Address, verify *runner.Verify) (Package, error)
}

// Package is what a source of a module stands for without the directory in it.
type Package struct {
	Files map[string][]byte
	Links map[string]string
}

// packagesDir is where packages appear to be, in the working directory. The directory does not exist: manifests
// and functions read them from memory, as they were when their hash was checked.
const packagesDir = ".deployster-modules"

// fetched is a package that appears to be at a directory.
type fetched struct {
	Package
	name string // its source without the directory
}

// Fetch obtains the package of a source, and returns the module's directory, absolute: the same
// for the same source on every machine that has the same working directory. In a replay it is only named.
func (s *Set) Fetch(a modsource.Address, verify *runner.Verify) (string, error) {
	sum := sha256.Sum256([]byte(a.Package()))
	name := path.Base(strings.TrimSuffix(strings.TrimSuffix(a.URL, ".git")+a.Image, "/"))
	name, _, _ = strings.Cut(name, ":")
	root := filepath.Join(s.Src.Workspace, packagesDir, name+"-"+hex.EncodeToString(sum[:12]))
	dir := filepath.Join(root, filepath.FromSlash(a.Dir))
	if s.Src.Replay {
		return dir, nil
	}
	if s.Src.Packages == nil {
		return "", errors.New("modules of registries and repositories are not fetched here")
	}
	p, err := s.Src.Packages.Package(a, verify)
	if err != nil {
		return "", err
	}
	s.Reads.packages[root] = &fetched{p, a.Package()}
	return dir, nil
}

// LeavesPackage reports whether one directory is in a package and another one is not in the same.
func (s *Set) LeavesPackage(from, to string) bool {
	in, root, _ := s.Reads.packageOf(from)
	_, other, _ := s.Reads.packageOf(to)
	return in != nil && root != other
}

// packageOf returns the package that a path is in, where that appears to be, and the path in it; nil = none.
func (r *readFiles) packageOf(full string) (p *fetched, root, rel string) {
	for root, p := range r.packages {
		if rel, err := filepath.Rel(root, full); err == nil && filepath.IsLocal(rel) {
			return p, root, filepath.ToSlash(rel)
		}
	}
	return nil, "", full
}

// maxLinks is how many symbolic links are followed for one path, as in Linux.
const maxLinks = 40

// resolve follows the symbolic links in a path of a package. It returns false if their target does not exist.
func (p Package) resolve(name string) (string, bool) {
	rest, done, links := strings.Split(path.Clean(name), "/"), ".", 0
	for len(rest) > 0 {
		next := path.Join(done, rest[0])
		rest = rest[1:]
		target, is := p.Links[next]
		if is {
			links++
			rest = append(strings.Split(target, "/"), rest...)
		} else {
			done = next
		}
		if next == ".." || links > maxLinks {
			return "", false
		}
	}
	return done, true
}

// read returns the content of a file of a package.
func (p Package) read(name string) ([]byte, error) {
	at, ok := p.resolve(name)
	content, is := p.Files[at]
	switch {
	case !ok || !is:
		return nil, fs.ErrNotExist
	case len(content) > MaxFileSize:
		return nil, fmt.Errorf("it has more than %d bytes, the limit", MaxFileSize)
	}
	return content, nil
}

// glob returns the files below a directory of a package that match a pattern.
func (p Package) glob(dir, pattern string) (names []string) {
	at, ok := p.resolve(dir)
	if !ok {
		return nil
	}
	for _, list := range [][]string{slices.Collect(maps.Keys(p.Files)), slices.Collect(maps.Keys(p.Links))} {
		for _, name := range list {
			below, is := strings.CutPrefix("/"+name, path.Join("/", at)+"/")
			if at == "." {
				below, is = name, true
			}
			if !is || !doublestar.MatchUnvalidated(pattern, below) {
				continue
			}
			if _, err := p.read(name); err == nil {
				names = append(names, below)
			}
		}
	}
	return names
}

// manifests returns the manifests in a directory of a package.
func (p *fetched) manifests(dir string) (list []File, problem string) {
	at, ok := p.resolve(dir)
	for _, name := range slices.Sorted(slices.Values(p.glob(dir, "*"))) {
		if !IsManifest(name) {
			continue
		}
		content, err := p.read(path.Join(at, name))
		if err != nil {
			return nil, fmt.Sprintf("%s of %s cannot be read: %s.", path.Join(dir, name), p.name, reason(err))
		}
		if !HasValuesOnly(name, content) {
			list = append(list, File{Path: p.name + "//" + path.Join(dir, name), Bytes: content})
		}
	}
	if !ok || len(list) == 0 {
		return nil, fmt.Sprintf("There is no manifest in the directory %s of %s: no file whose name ends in .hcl or .hcl.json. Correct "+
			"the "+
			"source, which names the directory after //.", dir, p.name)
	}
	return list, ""
}
