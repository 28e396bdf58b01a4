package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

func write(t *testing.T, dir, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// What docs/install.md has a reader do finds a changed byte, in a file, in the checksums and in their signature.
func TestSignature_IsVerifiedByTheCommandOfThePage(t *testing.T) {
	page, err := os.ReadFile("../docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile("(?ms)^## Verify$.*?^```sh\n(.*?)^```$").FindSubmatch(page)
	if commands == nil {
		t.Fatal("docs/install.md has no commands that verify")
	}
	dir := t.TempDir()
	key := filepath.Join(t.TempDir(), "key")
	run := func(name string, args ...string) error {
		c := exec.Command(name, args...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		t.Logf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		return err
	}
	verify := func() error { return run("sh", "-ec", string(commands[1])) }
	write(t, dir, "deployster_1.0.0_amd64.deb", []byte("a package"))
	write(t, dir, "deployster_1.0.0_arm64.deb", []byte("another"))
	r := release{out: dir, key: key}
	err = errors.Join(run("openssl", "genpkey", "-algorithm", "ed25519", "-out", key), r.checksums(),
		run("openssl", "pkey", "-in", key, "-pubout", "-out", "deployster.pub"), os.Remove(filepath.Join(dir, "deployster_1.0.0_arm64.deb")), verify())
	if err != nil {
		t.Fatal(err) // one package is enough: who installs needs no other
	}
	for _, name := range []string{"deployster_1.0.0_amd64.deb", "SHA256SUMS", "SHA256SUMS.sig", "deployster.pub"} {
		good, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		bad := bytes.Clone(good)
		bad[len(bad)/2] ^= 1
		write(t, dir, name, bad)
		if verify() == nil {
			t.Errorf("a changed byte of %s is not found", name)
		}
		write(t, dir, name, good)
	}
	if err := verify(); err != nil {
		t.Error(err)
	}
}

// The date of a commit is the only one in packages and archives. A checkout's own dates would give each
// clone other bytes.
func TestPackages_HaveTheDateOfTheCommit(t *testing.T) {
	r := release{version: "1.0.0", date: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), work: t.TempDir(), out: t.TempDir()}
	small := tree{arch: "amd64", files: []file{{"/usr/bin/deployster", []byte("x"), 0o755}, {"/usr/lib/deployster/a", []byte("y"), 0o644}}}
	if err := errors.Join(r.packages(small), r.archive(small)); err != nil {
		t.Fatal(err)
	}
	for name, hasTar := range map[string]bool{"deployster_1.0.0_x86_64.apk": true, "deployster_1.0.0_linux_amd64.tar.gz": true,
		"deployster_1.0.0_amd64.deb": false, "deployster_1.0.0.x86_64.rpm": false} {
		content, err := os.ReadFile(filepath.Join(r.out, name))
		if err != nil {
			t.Fatal(err)
		}
		if hasTar {
			checkDates(t, name, content, r.date)
		}
		again := r
		again.work, again.out = t.TempDir(), t.TempDir()
		if err := errors.Join(again.packages(small), again.archive(small)); err != nil {
			t.Fatal(err)
		}
		if second, err := os.ReadFile(filepath.Join(again.out, name)); err != nil || !bytes.Equal(content, second) {
			t.Errorf("%s has other bytes the second time: %v", name, err)
		}
	}
}

// The client for darwin comes with what hosts of all architectures are given, next to the program, where it
// searches for that; bin has a link to it.
func TestDarwin_HasTheClientAndWhatHostsAreGiven(t *testing.T) {
	r := release{version: "1.0.0", date: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), work: t.TempDir(), out: t.TempDir()}
	for _, arch := range architectures {
		for path, content := range map[string]string{r.client(arch, "deployster"): "darwin " + arch, r.client(arch, "deployster-lsp"): "editor " + arch,
			r.binary(arch, "deployster-host"):  "linux " + arch,
			r.binary(arch, "deployster-agent"): "a", r.binary(arch, "deployster-shim"): "s", r.binary(arch, "runc"): "r"} {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Dir(path), filepath.Base(path), []byte(content))
		}
		if err := r.bundle(arch); err != nil {
			t.Fatal(err)
		}
	}
	common := []file{{"/usr/lib/deployster/images/machine/index.json", []byte("{}"), 0o644}, {"/usr/lib/systemd/system/x.service", nil, 0o644},
		{"/usr/lib/tmpfiles.d/x.conf", nil, 0o644}, {"/usr/share/man/man1/deployster.1.gz", []byte("m"), 0o644},
		{"/usr/share/zsh/vendor-completions/_deployster", []byte("z"), 0o644}}
	if err := r.darwin(common); err != nil {
		t.Fatal(err)
	}
	for _, arch := range architectures {
		name := "deployster_1.0.0_darwin_" + arch
		content, err := os.ReadFile(filepath.Join(r.out, name+".tar.gz"))
		if err != nil {
			t.Fatal(err)
		}
		checkDates(t, name, content, r.date)
		got := unpack(t, content)
		want := map[string]string{"bin/deployster": "-> ../lib/deployster/deployster", "lib/deployster/deployster": "darwin " + arch, "lib/deployster/deployster-lsp": "editor " + arch,
			"lib/deployster/images/machine/index.json": "{}", "share/man/man1/deployster.1.gz": "m", "share/zsh/site-functions/_deployster": "z"}
		for _, host := range []string{"amd64", "arm64"} {
			for _, ending := range []string{".bundle", ".bundle.sha256"} {
				published, err := os.ReadFile(filepath.Join(r.out, "deployster-linux-"+host+ending))
				if err != nil {
					t.Fatal(err)
				}
				want["lib/deployster/deployster-linux-"+host+ending] = string(published)
			}
			packed := unpack(t, []byte(want["lib/deployster/deployster-linux-"+host+".bundle"]))
			if !maps.Equal(packed, map[string]string{"deployster-host": "linux " + host, "deployster-agent": "a", "deployster-shim": "s", "runc": "r"}) {
				t.Errorf("what hosts of %s are given is %q", host, packed)
			}
		}
		inside := map[string]string{}
		for path, content := range got {
			inside[strings.TrimPrefix(path, name+"/")] = content
		}
		if !maps.Equal(inside, want) {
			t.Errorf("%s has %q, want %q", name, slices.Sorted(maps.Keys(inside)), slices.Sorted(maps.Keys(want)))
		}
	}
}

// unpack returns the files of an archive, and where its links lead, by path.
func unpack(t *testing.T, content []byte) map[string]string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for archive := tar.NewReader(z); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name] = "-> " + h.Linkname; h.Typeflag == tar.TypeReg {
			content, err := io.ReadAll(archive)
			if err != nil {
				t.Fatal(err)
			}
			files[h.Name] = string(content)
		}
	}
}

func checkDates(t *testing.T, name string, content []byte, want time.Time) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(z); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if !h.ModTime.Equal(want) && h.Name != ".PKGINFO" { // which has always the same
			t.Errorf("%s: %s has the date %s", name, h.Name, h.ModTime)
		}
	}
}
