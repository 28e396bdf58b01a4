package replace_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"deployster/machine/internal/access"
	"deployster/machine/internal/replace"
)

// small returns a machine on a file system of 64 KiB.
func small(t *testing.T) *access.Machine {
	t.Helper()
	m := &access.Machine{Root: t.TempDir()}
	if err := unix.Mount("none", m.Root, "tmpfs", 0, "size=64k"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(m.Root, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	if err := os.MkdirAll(m.Path("/etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestFile_FullDiskLosesNothing(t *testing.T) {
	m := small(t)
	for _, inPlace := range []bool{false, true} {
		if err := os.WriteFile(m.Path("/etc/x"), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		err := replace.File(t.Context(), m, "/etc/x", replace.Change{Content: strings.NewReader(strings.Repeat("x", 200<<10)), InPlace: inPlace})
		if !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), "/etc/x cannot be written") {
			t.Errorf("in place %v: %v", inPlace, err)
		}
		if got, err := os.ReadFile(m.Path("/etc/x")); err != nil || string(got) != "old" {
			t.Errorf("in place %v: %d bytes, %v", inPlace, len(got), err)
		}
		if entries, err := os.ReadDir(m.Path("/etc")); err != nil || len(entries) != 1 {
			t.Errorf("%v %v", entries, err)
		}
	}
}

// There is room for the new file beside the old one, and then none in the old one.
func TestFile_FullDiskInPlaceLosesNothing(t *testing.T) {
	m := small(t)
	if err := os.WriteFile(m.Path("/etc/x"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := replace.File(t.Context(), m, "/etc/x", replace.Change{Content: strings.NewReader(strings.Repeat("x", 40<<10)), InPlace: true})
	if !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), "/etc/x has no room for the new content") {
		t.Error(err)
	}
	if got, err := os.ReadFile(m.Path("/etc/x")); err != nil || string(got) != "old" {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// A user puts a link in place of a directory of theirs: root does not write where it leads.
func TestFile_LinksOfOthersAreNotFollowed(t *testing.T) {
	t.Parallel()
	m := &access.Machine{Root: t.TempDir()}
	for _, c := range []struct {
		link, target string
		owner        int
		follows      bool
	}{
		{"/home/u/app", "../../etc", 1000, false},
		{"/home/u/absolute", "/etc", 1000, false},
		{"/home/u/twice", "app", 1000, false},
		{"/home/u/own", "data", 1000, true},
		{"/run", "var/run", 0, true},
		{"/home/u/loop", "loop", 0, false},
	} {
		for _, directory := range []string{"/etc", "/home/u/data", "/var/run"} {
			if err := os.MkdirAll(m.Path(directory), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(os.Symlink(c.target, m.Path(c.link)), os.Lchown(m.Path(c.link), c.owner, 0),
			os.Chown(m.Path("/home/u/data"), 1000, 0)); err != nil {
			t.Fatal(err)
		}
		for name, do := range map[string]func(path string) error{
			"file": func(path string) error {
				return replace.File(t.Context(), m, path, replace.Change{Content: strings.NewReader("x")})
			},
			"link":   func(path string) error { return replace.Link(m, path, "x") },
			"remove": func(path string) error { return replace.Remove(m, path) },
		} {
			if err := do(c.link + "/x"); (err == nil) != c.follows {
				t.Errorf("%s below %s, a link to %s: %v", name, c.link, c.target, err)
			}
		}
	}
	if entries, err := os.ReadDir(m.Path("/etc")); err != nil || len(entries) != 0 {
		t.Errorf("%v %v", entries, err)
	}
}

func TestFile_ReadOnlyFileSystemIsNamed(t *testing.T) {
	m := small(t)
	if err := unix.Mount("", m.Root, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	err := replace.File(t.Context(), m, "/etc/x", replace.Change{Content: strings.NewReader("x")})
	if !errors.Is(err, unix.EROFS) || !strings.Contains(err.Error(), "/etc/x: a file in its directory cannot be made") {
		t.Error(err)
	}
}
