package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// inImage are the packages of Debian in the image for CIs: deployster works with git, its
// users filter JSON with jq, and reach hosts by ssh.
var inImage = []string{"git", "jq", "busybox-static", "openssh-client", "ca-certificates"}

type object = map[string]any

// blobs collects the files of an OCI layout, by their digest.
type blobs map[string][]byte

// add adds a blob, and returns its descriptor.
func (b blobs) add(media string, content []byte) object {
	sum := sha256.Sum256(content)
	digest := hex.EncodeToString(sum[:])
	b["blobs/sha256/"+digest] = content
	return object{"mediaType": media, "digest": "sha256:" + digest, "size": len(content)}
}

func (b blobs) json(media string, value any) (object, error) {
	content, err := json.Marshal(value)
	return b.add(media, content), err
}

const (
	mediaIndex    = "application/vnd.oci.image.index.v1+json"
	mediaManifest = "application/vnd.oci.image.manifest.v1+json"
	mediaConfig   = "application/vnd.oci.image.config.v1+json"
	mediaLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// image writes the image for CIs as an archive with an OCI layout, for all architectures. It
// returns the packages in it, as name, version and architecture.
func (r *release) image(trees []tree) (packages []string, err error) {
	b, manifests := blobs{}, []object{}
	applets := ""
	for _, t := range trees {
		list, err := r.output(".", "sh", append([]string{"apt.sh", t.arch, filepath.Join(r.debian, "image")}, inImage...)...)
		if err != nil {
			return nil, err
		}
		packages = append(packages, strings.Split(list, "\n")...)
		root := filepath.Join(r.debian, "image", t.arch, "root")
		if native, _ := r.native(); strings.Contains(native, "/"+t.arch+"/") {
			if applets, err = r.output(".", filepath.Join(root, "bin", "busybox"), "--list"); err != nil {
				return nil, err
			}
		}
	}
	for _, t := range trees {
		root := filepath.Join(r.debian, "image", t.arch, "root")
		if err := finishRoot(root, strings.Fields(applets)); err != nil {
			return nil, err
		}
		manifest, err := r.manifest(b, t, root)
		if err != nil {
			return nil, err
		}
		manifest["platform"] = object{"os": "linux", "architecture": t.arch}
		manifests = append(manifests, manifest)
	}
	index, err := b.json(mediaIndex, object{"schemaVersion": 2, "mediaType": mediaIndex, "manifests": manifests})
	if err != nil {
		return nil, err
	}
	index["annotations"] = object{"org.opencontainers.image.ref.name": r.version}
	if b["index.json"], err = json.Marshal(object{"schemaVersion": 2, "mediaType": mediaIndex, "manifests": []object{index}}); err != nil {
		return nil, err
	}
	b["oci-layout"] = []byte(`{"imageLayoutVersion":"1.0.0"}`)
	out, err := os.Create(filepath.Join(r.out, "deployster_"+r.version+"_ci-image.tar"))
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(out)
	for _, name := range sorted(b) {
		err = errors.Join(err, r.addFile(w, name, b[name], 0o644))
	}
	return packages, errors.Join(err, w.Close(), out.Close())
}

// finishRoot does what packages would do when they are configured.
func finishRoot(root string, applets []string) error {
	var bundle bytes.Buffer
	certificates, err := filepath.Glob(filepath.Join(root, "usr/share/ca-certificates/mozilla/*.crt"))
	for _, path := range certificates { // sorted
		text, readErr := os.ReadFile(path)
		err = errors.Join(err, readErr)
		bundle.Write(text)
	}
	for _, applet := range applets {
		at := filepath.Join(root, "usr/bin", applet)
		if _, statErr := os.Lstat(at); errors.Is(statErr, fs.ErrNotExist) {
			err = errors.Join(err, os.Symlink("busybox", at))
		}
	}
	for path, text := range map[string]string{"etc/ssl/certs/ca-certificates.crt": bundle.String(),
		"etc/passwd":                 "root:x:0:0:root:/root:/bin/sh\n",
		"etc/group":                  "root:x:0:\n",
		"usr/share/deployster-image": "The packages of Debian in this image are in the list of contents of the release.\n"} {
		at := filepath.Join(root, path)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644))
	}
	for _, dir := range []string{"root", "tmp", "proc", "sys", "dev", "run", "var/lib/deployster", "workspace"} {
		err = errors.Join(err, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	// Manuals, translations, and what git needs perl for take half of the space.
	for _, pattern := range []string{"usr/share/man/*", "usr/share/locale/*", "usr/share/perl*", "usr/lib/*/perl*", "usr/lib/*/libperl*",
		"usr/bin/perl*",
		"usr/share/info/*", "usr/lib/*/gconv"} {
		found, globErr := filepath.Glob(filepath.Join(root, pattern))
		err = errors.Join(err, globErr)
		for _, path := range found {
			err = errors.Join(err, os.RemoveAll(path))
		}
	}
	return errors.Join(err, os.Chmod(filepath.Join(root, "tmp"), 0o1777|fs.ModeSticky), os.Chmod(filepath.Join(root, "root"), 0o700))
}

// manifest adds the image of one architecture, in two layers: Debian, and deployster.
func (r *release) manifest(b blobs, t tree, root string) (object, error) {
	var layers, diffs []any
	for _, fill := range []func(*tar.Writer) error{
		func(w *tar.Writer) error { return r.addDirectory(w, root) },
		func(w *tar.Writer) error {
			for _, f := range t.files {
				if strings.HasPrefix(f.path, "/usr/bin/") || strings.HasPrefix(f.path, "/usr/lib/deployster/") ||
					strings.HasPrefix(f.path, "/usr/share/doc/") {
					if err := r.addFile(w, f.path[1:], f.content, f.mode); err != nil {
						return err
					}
				}
			}
			return nil
		},
	} {
		var plain bytes.Buffer
		w := tar.NewWriter(&plain)
		if err := errors.Join(fill(w), w.Close()); err != nil {
			return nil, err
		}
		sum := sha256.Sum256(plain.Bytes())
		diffs = append(diffs, "sha256:"+hex.EncodeToString(sum[:]))
		var small bytes.Buffer
		z, err := gzip.NewWriterLevel(&small, gzip.DefaultCompression)
		if err != nil {
			return nil, err
		}
		if _, err = z.Write(plain.Bytes()); err != nil {
			return nil, err
		}
		if err := z.Close(); err != nil {
			return nil, err
		}
		layers = append(layers, b.add(mediaLayer, small.Bytes()))
	}
	labels := object{"org.opencontainers.image.version": r.version, "org.opencontainers.image.revision": r.commit}
	config, err := b.json(mediaConfig, object{"created": r.date.Format(time.RFC3339), "os": "linux", "architecture": t.arch,
		"config": object{"Env": []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, "WorkingDir": "/workspace",
			"Cmd": []string{"/bin/sh"}, "Labels": labels},
		"rootfs": object{"type": "layers", "diff_ids": diffs}})
	if err != nil {
		return nil, err
	}
	return b.json(mediaManifest, object{"schemaVersion": 2, "mediaType": mediaManifest, "config": config, "layers": layers})
}

// addDirectory adds all files of a directory, owned by root, with the date of the commit.
func (r *release) addDirectory(w *tar.Writer, root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		target := ""
		if info.Mode()&fs.ModeSymlink != 0 {
			if target, err = os.Readlink(path); err != nil {
				return err
			}
		}
		h, err := tar.FileInfoHeader(info, target)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		h.Name, h.Uid, h.Gid, h.Uname, h.Gname, h.ModTime, h.Format = rel, 0, 0, "", "", r.date, tar.FormatPAX
		h.AccessTime, h.ChangeTime = time.Time{}, time.Time{}
		if d.IsDir() {
			h.Name += "/"
		}
		if err := w.WriteHeader(h); err != nil || !info.Mode().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", rel, err)
		}
		return nil
	})
}

func sorted(b blobs) (names []string) {
	for name := range b {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
