package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// darwin writes the archives of the client for darwin, each with what hosts of all architectures are
// given. The bundles exist already.
func (r *release) darwin(common []file) error {
	hosts := []file{}
	for _, arch := range architectures {
		for _, ending := range []string{"", ".sha256"} {
			name := "deployster-linux-" + arch + ".bundle" + ending
			content, err := os.ReadFile(filepath.Join(r.out, name))
			if err != nil {
				return err
			}
			hosts = append(hosts, file{"/usr/lib/deployster/" + name, content, 0o644})
		}
	}
	for _, arch := range architectures {
		r.say("packing for darwin on %s", arch)
		files := slices.Concat(darwinFiles(common), hosts)
		for _, name := range onDarwin {
			content, err := os.ReadFile(r.client(arch, name))
			if err != nil {
				return err
			}
			files = append(files, file{"/usr/lib/deployster/" + name, content, 0o755})
		}
		if err := r.darwinArchive(arch, files); err != nil {
			return err
		}
	}
	return nil
}

// darwinArchive writes one archive. Its paths are those below /usr/local, since /usr is read-only
// there. The program itself is next to the files that it searches for, and bin has a link.
func (r *release) darwinArchive(arch string, files []file) error {
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	top := fmt.Sprintf("deployster_%s_darwin_%s", r.version, arch)
	return r.writeTar(filepath.Join(r.out, top+".tar.gz"), func(w *tar.Writer) error {
		errs := []error{r.addLink(w, top+"/bin/deployster", "../lib/deployster/deployster")}
		for _, f := range files {
			errs = append(errs, r.addFile(w, top+strings.TrimPrefix(f.path, "/usr"), f.content, f.mode))
		}
		return errors.Join(errs...)
	})
}

// darwinFiles returns those of the common files that have a use on darwin, where they are found there.
func darwinFiles(common []file) (files []file) {
	for _, f := range common {
		if strings.HasPrefix(f.path, "/usr/lib/systemd/") || strings.HasPrefix(f.path, "/usr/lib/tmpfiles.d/") {
			continue
		}
		f.path = strings.Replace(f.path, "/zsh/vendor-completions/", "/zsh/site-functions/", 1) // the former are Debian's
		files = append(files, f)
	}
	return files
}
