package tree

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// made makes a tree: "name/" is a directory, "name>target" a link.
func made(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		switch link, target, isLink := strings.Cut(name, ">"); {
		case isLink:
			err = errors.Join(err, os.Symlink(target, filepath.Join(dir, link)))
		case strings.HasSuffix(name, "/"):
			err = errors.Join(err, os.MkdirAll(path, 0o755))
		default:
			err = errors.Join(err, os.WriteFile(path, []byte(content), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func hashOf(t *testing.T, dir string) string {
	t.Helper()
	s, err := Measure(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return s.Hash
}

func TestMeasure_SeesEachDifference(t *testing.T) {
	files := func() map[string]string {
		return map[string]string{"a": "1", "d/b": "22", "d/e/": "", "l>../../etc/passwd": "", "new\nline": ""}
	}
	dir := made(t, files())
	s, err := Measure(t.Context(), dir)
	if err != nil || s.Files != 4 || s.Bytes != 3 {
		t.Fatalf("%+v, %v", s, err)
	}
	if again := hashOf(t, made(t, files())); again != s.Hash {
		t.Error("the same has another hash")
	}
	for name, change := range map[string]func(map[string]string, func(string) string) error{
		"content": func(f map[string]string, at func(string) string) error {
			return os.WriteFile(at("a"), []byte("2"), 0o644)
		},
		"mode":          func(f map[string]string, at func(string) string) error { return os.Chmod(at("a"), 0o600) },
		"mode of a dir": func(f map[string]string, at func(string) string) error { return os.Chmod(at("d/e"), 0o700) },
		"setuid":        func(f map[string]string, at func(string) string) error { return os.Chmod(at("a"), 0o644|os.ModeSetuid) },
		"name":          func(f map[string]string, at func(string) string) error { return os.Rename(at("a"), at("aa")) },
		"more":          func(f map[string]string, at func(string) string) error { return os.WriteFile(at("z"), nil, 0o644) },
		"an empty dir":  func(f map[string]string, at func(string) string) error { return os.Mkdir(at("z"), 0o755) },
		"less":          func(f map[string]string, at func(string) string) error { return os.Remove(at("d/b")) },
		"target of link": func(f map[string]string, at func(string) string) error {
			return errors.Join(os.Remove(at("l")), os.Symlink("x", at("l")))
		},
		"link to file": func(f map[string]string, at func(string) string) error {
			return errors.Join(os.Remove(at("a")), os.Symlink("1", at("a")))
		},
		"border of names": func(f map[string]string, at func(string) string) error {
			return errors.Join(os.Remove(at("d/b")), os.WriteFile(at("d/b2"), []byte("2"), 0o644))
		},
	} {
		dir := made(t, files())
		if err := change(files(), func(name string) string { return filepath.Join(dir, name) }); err != nil {
			t.Fatal(err)
		}
		if hashOf(t, dir) == s.Hash {
			t.Errorf("%s: the same hash", name)
		}
	}
}

func TestMeasure_RefusesWhatIsNotAFile(t *testing.T) {
	for want, make := range map[string]func(path string) error{
		"is a FIFO": func(path string) error { return syscall.Mkfifo(path, 0o644) },
		"is a socket": func(path string) error {
			l, err := net.Listen("unix", path)
			if err == nil {
				l.(*net.UnixListener).SetUnlinkOnClose(false)
				err = l.Close()
			}
			return err
		},
		"is a device": func(path string) error { return syscall.Mknod(path, syscall.S_IFCHR|0o666, 1<<8|3) },
	} {
		dir, err := os.MkdirTemp("", "t") // a socket's path is short
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		if err := make(filepath.Join(dir, "it")); err != nil {
			t.Fatal(err)
		}
		var refused *RefusedError
		if _, err := Measure(t.Context(), dir); !errors.As(err, &refused) || refused.Reason != want || refused.Path != "it" {
			t.Errorf("%s: %v", want, err)
		}
		if err := Copy(t.Context(), dir, filepath.Join(t.TempDir(), "c")); !errors.As(err, &refused) || refused.Reason != want {
			t.Errorf("copy of what %s: %v", want, err)
		}
	}
}

// More files than may be, and a path that is longer than may be, are refused, and not read.
func TestMeasure_RefusesTooMuch(t *testing.T) {
	const most = 10
	dir := t.TempDir()
	var refused *RefusedError
	for i := range 10 {
		if _, err := measure(t.Context(), dir, most); err != nil {
			t.Fatalf("%d files: %v", i, err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := measure(t.Context(), dir, most); !errors.As(err, &refused) || refused.Reason != "is one of more than 10 files" {
		t.Errorf("too many: %v", err)
	}
	// What is read and not visited yet counts: a directory in each one could be as large.
	files := map[string]string{}
	for i := range 8 {
		files[fmt.Sprint("a/", i)], files[fmt.Sprint("z", i)] = "", ""
	}
	if _, err := measure(t.Context(), made(t, files), most); !errors.As(err, &refused) || !strings.HasPrefix(refused.Path, "a/") {
		t.Errorf("too many together: %v", err)
	}
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	deep, name := root, strings.Repeat("d", 200)
	for range 25 { // each step is short, and all of them are not
		if err := deep.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
		if deep, err = deep.OpenRoot(name); err != nil {
			t.Fatal(err)
		}
		defer deep.Close()
	}
	if _, err := Measure(t.Context(), root.Name()); !errors.As(err, &refused) || refused.Reason != "has a path of more than 4096 bytes" {
		t.Errorf("a long path: %v", err)
	}
}

func TestCopy_IsTheSame(t *testing.T) {
	dir := made(t, map[string]string{"a": "1", "d/b": "22", "d/e/": "", "l>/etc/passwd": "", "loop>loop": "", "closed/f": "x"})
	for _, err := range []error{os.Chmod(filepath.Join(dir, "a"), 0o755|os.ModeSetuid), os.Chmod(filepath.Join(dir, "closed"), 0o500)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	to := filepath.Join(t.TempDir(), "copy")
	if err := Copy(t.Context(), dir, to); err != nil {
		t.Fatal(err)
	}
	if hashOf(t, dir) != hashOf(t, to) {
		t.Error("the copy is another tree")
	}
	if err := os.WriteFile(filepath.Join(to, "d/b"), []byte("changed"), 0o644); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "d/b")); string(b) != "22" || err != nil {
		t.Errorf("the original is %q, %v", b, err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := Copy(t.Context(), filepath.Join(dir, "d/b"), file); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(file); string(b) != "22" || err != nil {
		t.Errorf("a file: %q, %v", b, err)
	}
	if err := Copy(t.Context(), filepath.Join(dir, "d/b"), file); err == nil {
		t.Error("something was overwritten")
	}
}

func TestMeasure_Interrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Measure(ctx, made(t, map[string]string{"a": "1"})); err == nil {
		t.Error("it went on")
	}
}

// However many files a directory has, none is looked at when the time is up.
func TestWalk_EndsBetweenTwoFiles(t *testing.T) {
	t.Parallel()
	root, err := os.OpenRoot(made(t, map[string]string{"d/a": "1", "d/b": "2", "d/c": "3"}))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	late := errors.New("late")
	ctx, cancel := context.WithCancelCause(t.Context())
	var seen []string
	err = walk(ctx, root, MaxEntries, func(e *entry) error {
		if seen = append(seen, e.path); e.path == "d/a" {
			cancel(late)
		}
		return nil
	})
	if !errors.Is(err, late) || len(seen) != 3 {
		t.Errorf("%v, and it looked at %q", err, seen)
	}
}

// FuzzTree holds hash and copy to each other over trees of any names and kinds.
func FuzzTree(f *testing.F) {
	f.Add("a/b", "x", "../..", uint32(0o644))
	f.Add("..", "\n", "/dev/null", uint32(0o4777))
	f.Fuzz(func(t *testing.T, name, content, target string, mode uint32) {
		dir := t.TempDir()
		if strings.ContainsRune(name+target, 0) || !filepath.IsLocal(name) || target == "" {
			return
		}
		file := filepath.Join(dir, name)
		if os.MkdirAll(filepath.Dir(file), 0o755) != nil || os.WriteFile(file, []byte(content), 0o644) != nil ||
			os.Chmod(file, os.FileMode(mode&0o777)) != nil || os.Symlink(target, filepath.Join(dir, "link")) != nil {
			return
		}
		to := filepath.Join(t.TempDir(), "copy")
		if err := Copy(t.Context(), dir, to); err != nil {
			t.Fatal(err)
		}
		if a, b := hashOf(t, dir), hashOf(t, to); a != b {
			t.Errorf("%s is copied as %s", a, b)
		}
	})
}
