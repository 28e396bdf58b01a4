package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// file is one file of an installation.
type file struct {
	path    string // where it is installed
	content []byte
	mode    os.FileMode
}

// tree is an installation for one architecture.
type tree struct {
	arch  string
	files []file
}

// common returns the files that are the same for all architectures.
func (r *release) common() (files []file, err error) {
	native, err := r.native()
	if err != nil {
		return nil, err
	}
	add := func(at string, content []byte) { files = append(files, file{at, content, 0o644}) }
	pages := filepath.Join(r.work, "man")
	if err := os.MkdirAll(pages, 0o755); err != nil {
		return nil, err
	}
	if _, err := r.output(".", native, "man", pages); err != nil {
		return nil, err
	}
	if err := languagePage(filepath.Join(r.root, "docs", "language.md"), filepath.Join(pages, "deployster-language.7"),
		r.date); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(pages)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(pages, e.Name()))
		if err != nil {
			return nil, err
		}
		add("/usr/share/man/man"+path.Ext(e.Name())[1:]+"/"+e.Name()+".gz", compress(content))
	}
	for shell, at := range map[string]string{"bash": "/usr/share/bash-completion/completions/deployster",
		"zsh": "/usr/share/zsh/vendor-completions/_deployster", "fish": "/usr/share/fish/vendor_completions.d/deployster.fish"} {
		script, err := exec.Command(native, "completion", shell).Output()
		if err != nil {
			return nil, fmt.Errorf("the completion of %s: %w", shell, err)
		}
		add(at, script)
	}
	for at, from := range map[string]string{
		"/usr/lib/systemd/system/deployster-watch@.service": "files/deployster-watch@.service",
		"/usr/lib/tmpfiles.d/deployster.conf":               "files/deployster.conf",
		"/usr/share/doc/deployster/copyright":               filepath.Join(r.root, "LICENSE"),
		"/usr/share/doc/deployster/CHANGELOG.md":            filepath.Join(r.root, "CHANGELOG.md"),
	} {
		content, readErr := os.ReadFile(from)
		err = errors.Join(err, readErr)
		add(at, content)
	}
	licences, licenceErr := r.licences()
	add("/usr/share/doc/deployster/THIRD-PARTY-LICENCES", licences)
	return files, errors.Join(err, licenceErr)
}

// layouts returns the files of the images that come with deployster, for all architectures.
func (r *release) layouts() (files []file, err error) {
	for _, image := range images {
		dir := filepath.Join(r.work, "images", image.name)
		isType := fmt.Sprint("-type=", slices.Contains(types, image.name))
		args := []string{"run", "./containerd/bundled/deployster-layout", isType, dir, image.name}
		for _, arch := range architectures {
			args = append(args, arch+"="+r.binary(arch, image.name))
		}
		if _, err := r.output(r.root, "go", args...); err != nil {
			return nil, err
		}
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			content, err := os.ReadFile(path)
			name, _ := filepath.Rel(dir, path) // it is below dir
			files = append(files, file{"/usr/lib/deployster/images/" + image.name + "/" + name, content, 0o644})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// tree returns the installation for an architecture.
func (r *release) tree(arch string, common []file) tree {
	t := tree{arch: arch, files: slices.Clone(common)}
	add := func(at, name string, mode os.FileMode) {
		content, err := os.ReadFile(r.binary(arch, name))
		if err != nil {
			panic(err) // it was built a moment ago
		}
		t.files = append(t.files, file{at, content, mode})
	}
	for _, name := range append(names(), "runc") {
		switch name {
		case "deployster":
			add("/usr/bin/deployster", name, 0o755)
		case "deployster-host": // nobody runs it here
		default:
			add("/usr/lib/deployster/"+name, name, 0o755)
		}
	}
	for _, name := range sent {
		add("/usr/lib/deployster/"+name+".zst", name+".zst", 0o644)
	}
	slices.SortFunc(t.files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return t
}

func names() (list []string) {
	for _, p := range programs {
		list = append(list, p.name)
	}
	return list
}

func compress(content []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
	_, _ = z.Write(content)                               // to memory
	_ = z.Close()
	return b.Bytes()
}

// licences returns the licences of everything that is linked in.
func (r *release) licences() ([]byte, error) {
	dirs := map[string]string{}
	for _, dir := range []string{".", "bridge", "kube", "lsp"} {
		list, err := r.output(filepath.Join(r.root, dir), "go", "list", "-m", "-f", "{{.Path}}@{{.Version}}\t{{.Dir}}", "all")
		if err != nil {
			return nil, err
		}
		for line := range strings.SplitSeq(list, "\n") {
			if name, at, _ := strings.Cut(line, "\t"); at != "" { // else it was not needed there
				dirs[name] = at
			}
		}
	}
	goroot, err := r.output(".", "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	modules, err := r.modules()
	if err != nil {
		return nil, err
	}
	dirs["Go, its standard library"] = goroot
	var text bytes.Buffer
	text.WriteString("These works are linked into the programs of deployster.\n")
	for _, name := range append([]string{"Go, its standard library"}, slices.Sorted(maps.Keys(modules))...) {
		found, err := licenceFiles(dirs[name])
		if err != nil || len(found) == 0 {
			return nil, fmt.Errorf("no licence of %s in %q: %w", name, dirs[name], err)
		}
		for _, path := range found {
			content, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&text, "\n%s\n%s, %s\n%[1]s\n\n%[4]s", strings.Repeat("=", 80), name, filepath.Base(path), content)
		}
	}
	for _, name := range []string{"libseccomp-dev", "libc6"} { // in runc
		content, err := os.ReadFile(filepath.Join(r.debian, "runc", architectures[0], "root", "usr", "share", "doc", name, "copyright"))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&text, "\n%s\n%s, in runc; its source is that of Debian's package\n%[1]s\n\n%[3]s", strings.Repeat("=", 80), name,
			content)
	}
	return text.Bytes(), nil
}

// licenceFiles returns the files of a module that state its terms.
func licenceFiles(dir string) (found []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if !e.IsDir() && (strings.HasPrefix(name, "LICEN") || strings.HasPrefix(name, "COPYING") || strings.HasPrefix(name, "NOTICE")) {
			found = append(found, filepath.Join(dir, e.Name()))
		}
	}
	return found, err
}
