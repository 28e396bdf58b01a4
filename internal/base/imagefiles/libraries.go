package imagefiles

import (
	"context"
	"debug/elf"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// AddLibraries adds the libraries that the set's shared libraries from this machine need,
// each at its own path. The modules of an interpreter are such libraries: only the module
// itself names what it needs.
func (s *Set) AddLibraries(ctx context.Context) error {
	var paths []string
	for name, f := range s.files {
		if f.root != nil && f.mode.IsRegular() && isLibrary(name) {
			paths = append(paths, filepath.Join(f.root.Name(), f.name))
		}
	}
	slices.Sort(paths)
	linker := ""
	for _, path := range paths {
		if !needsLibraries(path) {
			continue
		}
		if linker == "" {
			if linker = linkerHere(); linker == "" {
				return fmt.Errorf("%s needs libraries, and this machine has no dynamic linker to find them", path)
			}
		}
		libraries, err := librariesOf(ctx, linker, path)
		if err != nil {
			return err
		}
		for _, library := range append(libraries, linker) {
			if s.Has(library) {
				continue
			}
			if err := s.addFile(library, library, along); err != nil {
				return err
			}
		}
	}
	return nil
}

// isLibrary reports whether a file is named as shared libraries are: x.so, x.so.1.
func isLibrary(name string) bool {
	base := filepath.Base(name)
	return strings.HasSuffix(base, ".so") || strings.Contains(base, ".so.")
}

// needsLibraries reports whether a file is a shared library that names others.
func needsLibraries(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	needed, err := f.ImportedLibraries()
	return err == nil && len(needed) > 0
}

// linkerHere returns the dynamic linker of this machine's own programs, "" if there is
// none.
func linkerHere() string {
	for _, program := range []string{"/usr/bin/env", "/bin/sh", "/bin/ls"} {
		if linker, err := linkerOf(program); err == nil && linker != "" {
			return linker
		}
	}
	return ""
}
