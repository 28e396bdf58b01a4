package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/apk" // these register themselves
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// archive writes the tar archive of a tree. Its paths are those below /usr.
func (r *release) archive(t tree) error {
	top := fmt.Sprintf("deployster_%s_linux_%s", r.version, t.arch)
	return r.writeTar(filepath.Join(r.out, top+".tar.gz"), func(w *tar.Writer) error {
		for _, f := range t.files {
			if err := r.addFile(w, top+strings.TrimPrefix(f.path, "/usr"), f.content, f.mode); err != nil {
				return err
			}
		}
		return nil
	})
}

// bundle writes what hosts of an architecture are given by a machine of another one.
func (r *release) bundle(arch string) error {
	name := "deployster-linux-" + arch + ".bundle"
	path := filepath.Join(r.out, name)
	err := r.writeTar(path, func(w *tar.Writer) error {
		for _, program := range []string{"deployster-host", "deployster-agent", "deployster-shim", "runc"} {
			content, err := os.ReadFile(r.binary(arch, program))
			if err != nil {
				return err
			}
			if err := r.addFile(w, program, content, 0o755); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	return os.WriteFile(path+".sha256", []byte(hex.EncodeToString(sum[:])+"  "+name+"\n"), 0o644)
}

func (r *release) writeTar(path string, fill func(*tar.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	z, err := gzip.NewWriterLevel(f, gzip.DefaultCompression) // the best takes twice as long for a hundredth
	if err != nil {
		return err
	}
	w := tar.NewWriter(z)
	return errors.Join(fill(w), w.Close(), z.Close(), f.Close())
}

func (r *release) addFile(w *tar.Writer, name string, content []byte, mode os.FileMode) error {
	err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: int64(mode), Size: int64(len(content)), ModTime: r.date,
		Format: tar.FormatPAX})
	if err == nil {
		_, err = io.Copy(w, bytes.NewReader(content))
	}
	return err
}

func (r *release) addLink(w *tar.Writer, name, to string) error {
	return w.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: to, Mode: 0o777, ModTime: r.date,
		Format: tar.FormatPAX})
}

// packages writes the packages of a tree.
func (r *release) packages(t tree) error {
	dir := filepath.Join(r.work, "packages", t.arch)
	var contents files.Contents
	for _, f := range t.files {
		source := filepath.Join(dir, f.path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(source), 0o755), os.WriteFile(source, f.content, 0o644)); err != nil {
			return err
		}
		contents = append(contents, &files.Content{Source: source, Destination: f.path,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: f.mode, MTime: r.date}})
	}
	for _, at := range ownDirs(t) {
		contents = append(contents, &files.Content{Type: files.TypeDir, Destination: at,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: 0o755, MTime: r.date}})
	}
	scripts, err := r.scripts()
	if err != nil {
		return err
	}
	for format, ending := range map[string]string{"deb": "_" + t.arch + ".deb",
		"rpm": "." + machine(t.arch) + ".rpm", "apk": "_" + machine(t.arch) + ".apk"} {
		packager, err := nfpm.Get(format)
		if err != nil {
			return err
		}
		info := nfpm.WithDefaults(&nfpm.Info{
			Name: "deployster", Arch: t.arch, Platform: "linux", Version: r.version, Release: "1", Section: "admin", Priority: "optional",
			Maintainer: "deployster", License: "Apache-2.0", MTime: r.date, DisableGlobbing: true,
			Description: "plan and apply with container images as resource types\n" +
				"Deployster plans and applies infrastructure; each type of resource is a container image.",
			Overridables: nfpm.Overridables{
				Contents: contents, RPM: nfpm.RPM{BuildHost: "localhost",
					Summary: "plan and apply with container images as resource types"},
				Recommends: []string{"openssh-client"},
				Scripts:    nfpm.Scripts{PostInstall: scripts["postinst"], PreRemove: scripts["prerm"]},
			},
		})
		switch format {
		case "deb":
			info.Scripts.PostRemove = scripts["postrm"]
		case "rpm":
			info.Recommends = []string{"openssh-clients"}
		case "apk":
			info.Recommends = nil
		}
		name := path.Join(r.out, "deployster_"+r.version+ending)
		out, err := os.Create(name)
		if err != nil {
			return err
		}
		if err := errors.Join(packager.Package(info, out), out.Close()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// ownDirs returns the directories that only this package has, which rpm removes with it only if they
// are listed.
func ownDirs(t tree) []string {
	found := map[string]bool{}
	for _, f := range t.files {
		for dir := path.Dir(f.path); strings.Contains(dir, "/deployster"); dir = path.Dir(dir) {
			found[dir] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// scripts returns copies of the scripts of packages with the date of the commit, which is recorded in
// a package: those of a checkout have the date of that.
func (r *release) scripts() (map[string]string, error) {
	copies := map[string]string{}
	for _, name := range []string{"postinst", "prerm", "postrm"} {
		content, err := os.ReadFile(filepath.Join("files", name))
		if err != nil {
			return nil, err
		}
		copies[name] = filepath.Join(r.work, name)
		if err := errors.Join(os.WriteFile(copies[name], content, 0o755), os.Chtimes(copies[name], r.date, r.date)); err != nil {
			return nil, err
		}
	}
	return copies, nil
}

// machine returns the name that uname -m prints.
func machine(arch string) string {
	return map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[arch]
}
