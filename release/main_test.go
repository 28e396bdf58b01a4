package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
