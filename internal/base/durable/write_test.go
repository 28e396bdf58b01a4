package durable

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// traced is the system with each step noted in order; fail makes one of them
// fail.
func traced(steps *[]string, fail string, err error) ops {
	o := system()
	note := func(step string) error {
		*steps = append(*steps, step)
		if step == fail {
			return err
		}
		return nil
	}
	write, sync, rename, dir := o.write, o.sync, o.rename, o.syncDir
	o.write = func(f *os.File, b []byte) (int, error) {
		if err := note("write"); err != nil {
			n, _ := write(f, b[:len(b)/2])
			if errors.Is(err, errShort) {
				return n, nil
			}
			return n, err
		}
		return write(f, b)
	}
	o.sync = func(f *os.File) error {
		if err := note("sync"); err != nil {
			return err
		}
		return sync(f)
	}
	o.rename = func(from, to string) error {
		if err := note("rename"); err != nil {
			return err
		}
		return rename(from, to)
	}
	o.syncDir = func(d string) error {
		if err := note("syncDir"); err != nil {
			return err
		}
		return dir(d)
	}
	return o
}

// errShort makes the write of traced short without an error.
var errShort = errors.New("short")

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestWriteFile_StepsInOrder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	var steps []string
	if err := writeFile(traced(&steps, "", nil), path, []byte("new"), 0o600, nil); err != nil {
		t.Fatal(err)
	}
	want := []string{"write", "sync", "rename", "syncDir"}
	if len(steps) != len(want) {
		t.Fatalf("steps %v, want %v", steps, want)
	}
	for i := range want {
		if steps[i] != want[i] {
			t.Fatalf("steps %v, want %v", steps, want)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
}

func TestWriteFile_FaultsKeepTheOldFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		step string
		err  error
		want error
	}{
		{"write", syscall.ENOSPC, syscall.ENOSPC},
		{"write", errShort, io.ErrShortWrite},
		{"sync", syscall.EIO, syscall.EIO},
		{"rename", syscall.EROFS, syscall.EROFS},
	} {
		t.Run(c.step+" "+c.err.Error(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			var steps []string
			err := writeFile(traced(&steps, c.step, c.err), path, []byte("new content"), 0o600, nil)
			if !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			if got, _ := os.ReadFile(path); string(got) != "old" {
				t.Errorf("the old file was touched: %q", got)
			}
			if n := names(t, dir); len(n) != 1 {
				t.Errorf("left behind: %v", n)
			}
			count := 0
			for _, s := range steps {
				if s == c.step {
					count++
				}
			}
			if count != 1 {
				t.Errorf("%s was tried %d times: %v", c.step, count, steps)
			}
		})
	}
}

func TestWriteFile_UnsureAfterRename(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	var steps []string
	err := writeFile(traced(&steps, "syncDir", syscall.EIO), path, []byte("new"), 0o600, nil)
	if !errors.Is(err, ErrUnsure) || !errors.Is(err, syscall.EIO) {
		t.Fatalf("error %v, want ErrUnsure and EIO", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "new" {
		t.Errorf("content %q", got)
	}
}

func TestWriteFile_FollowsLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(link, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v %v", info, err)
	}
	if got, _ := os.ReadFile(target); !bytes.Equal(got, []byte("new")) {
		t.Errorf("target %q", got)
	}
}

func TestWriteFile_WithoutDirectory(t *testing.T) {
	t.Parallel()
	err := WriteFile(filepath.Join(t.TempDir(), "none", "f"), nil, 0o600)
	if !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("error %v", err)
	}
}

func TestRemove_SyncsItsDirectory(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var steps []string
	if err := remove(traced(&steps, "syncDir", syscall.EIO), path); !errors.Is(err, ErrUnsure) {
		t.Errorf("a failed directory sync gave %v", err)
	}
	if err := Remove(path); err != nil {
		t.Errorf("removing what is gone: %v", err)
	}
}

// A link that somebody has planted is replaced, and what it names is left alone.
func TestWriteFile_FollowsNoLinksHere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	victim, path := filepath.Join(dir, "victim"), filepath.Join(dir, "plan.bin")
	if err := errors.Join(os.WriteFile(victim, []byte("old"), 0o644), os.Symlink(victim, path)); err != nil {
		t.Fatal(err)
	}
	if err := WriteFileHere(path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadFile(victim)
	info, lerr := os.Lstat(path)
	if err != nil || lerr != nil || string(left) != "old" || !info.Mode().IsRegular() || info.Mode().Perm() != 0o600 {
		t.Errorf("the victim holds %q; the file is %v; %v, %v", left, info, err, lerr)
	}
}
