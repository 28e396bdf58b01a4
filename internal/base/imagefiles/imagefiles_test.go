package imagefiles

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// listing is what a tar holds: name, kind and mode, and content.
func listing(t *testing.T, s *Set) (list []string) {
	t.Helper()
	var b bytes.Buffer
	if err := s.WriteTar(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(&b); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil || !h.ModTime.IsZero() && h.ModTime.Unix() != 0 || h.Uid != 0 || h.Uname != "" {
			t.Fatalf("%v %+v", err, h)
		}
		list = append(list, strings.TrimSpace(fs.FileMode(h.Mode).Perm().String()+" "+h.Name+" "+h.Linkname+string(content)))
	}
}

func TestSet_KnowsProgramsAndInterpreters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{"d/sub/b": "bee", "d/a": "ay", "script": "#!/bin/sh -e\necho", "text": "plain"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755), os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink("sub", filepath.Join(dir, "d/link")), os.Symlink("script", filepath.Join(dir, "to-script"))); err != nil {
		t.Fatal(err)
	}
	var s Set
	defer s.Close()
	err := errors.Join(s.AddTree(filepath.Join(dir, "d"), "/x/y"), s.AddFile(filepath.Join(dir, "to-script"), "/bin/script"), s.AddFile(filepath.Join(dir, "text"), "text"))
	if err != nil {
		t.Fatal(err)
	}
	if !s.Executable("/bin/script") || s.Executable("/none") || s.Executable("/x/y/link") {
		t.Error("what can be made executable")
	}
	if s.Interpreter("/bin/script") != "/bin/sh" || s.Interpreter("/text") != "" || s.Interpreter("/none") != "" {
		t.Error("the interpreter is not found")
	}
	if !s.Program("/bin/script") || s.Program("/text") || !s.Program("/x/y/link") {
		t.Error("what is a program")
	}
	if !s.Has("/x/y/a") || s.Has("/x/y/c") || !s.Has("/x/y/link/anything") {
		t.Error("what is there")
	}
	want := []string{"-rwxr-xr-x bin/", "-rwxr-xr-x bin/script #!/bin/sh -e\necho", "-rw-r--r-- text plain", "-rwxr-xr-x x/", "-rwxr-xr-x x/y/", "-rw-r--r-- x/y/a ay",
		"-rwxrwxrwx x/y/link sub", "-rwxr-xr-x x/y/sub/", "-rw-r--r-- x/y/sub/b bee"}
	if got := listing(t, &s); !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
	if err := s.AddFile(filepath.Join(dir, "text"), "/text"); err == nil || !strings.Contains(err.Error(), "two files for /text") {
		t.Errorf("twice: %v", err)
	}
	if err := s.AddFile(filepath.Join(dir, "text"), "/"); err == nil {
		t.Error("a file without a name")
	}
	if err := s.AddTree(filepath.Join(dir, "none"), "/"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
}

// A program of this machine comes with its linker and its libraries; a static
// one comes alone.
func TestAddProgram_IncludesItsLibraries(t *testing.T) {
	t.Parallel()
	var s Set
	defer s.Close()
	if err := s.AddProgram(t.Context(), "/usr/bin/sort"); err != nil {
		t.Fatal(err)
	}
	libc := slices.ContainsFunc(slices.Collect(maps.Keys(s.files)), func(name string) bool { return strings.Contains(name, "libc.so") })
	if !s.Has("/usr/bin/sort") || !libc || len(s.files) < 3 {
		t.Errorf("%d files", len(s.files))
	}
	var alone Set
	defer alone.Close()
	if err := alone.AddProgram(t.Context(), "/bin/busybox"); err != nil || len(alone.files) != 1 {
		t.Errorf("%v, %d files", err, len(alone.files))
	}
	if err := s.AddProgram(t.Context(), "/etc/passwd"); err == nil || !strings.Contains(err.Error(), "not a program") {
		t.Errorf("no program: %v", err)
	}
}

// Programs find the name of who runs them; accounts of the user's own files win.
func TestAddAccounts_KeepsFilesOfTheUser(t *testing.T) {
	t.Parallel()
	var s Set
	defer s.Close()
	if err := s.AddAccounts(); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(listing(t, &s), "\n")
	for _, want := range []string{"-rw-r--r-- etc/passwd root:x:0:0:root:/root:/bin/sh", "-rw-r--r-- etc/group root:x:0:", "-rwx------ root/"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not among\n%s", want, got)
		}
	}
	dir := t.TempDir()
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "etc"), 0o755), os.WriteFile(filepath.Join(dir, "etc/passwd"), []byte("mine"), 0o600),
		os.Symlink("/home", filepath.Join(dir, "root"))); err != nil {
		t.Fatal(err)
	}
	var own Set
	defer own.Close()
	if err := errors.Join(own.AddTree(dir, "/"), own.AddAccounts()); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(listing(t, &own), "\n"); !strings.Contains(got, "-rw------- etc/passwd mine") || strings.Contains(got, "-rwx------ root/") {
		t.Errorf("got\n%s", got)
	}
}

// The shell is there under its names; the user's own files win over it.
func TestAddShell_KeepsFilesOfTheUser(t *testing.T) {
	t.Parallel()
	mine := filepath.Join(t.TempDir(), "json")
	if err := os.WriteFile(mine, []byte("mine"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, first := range []bool{true, false} {
		var s Set
		defer s.Close()
		add := []func() error{func() error { return s.AddFile(mine, "/bin/json") }, func() error { return s.AddShell(t.Context()) }}
		if !first {
			slices.Reverse(add)
		}
		for _, f := range add {
			if err := f(); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"/bin/sh", "/bin/awk", "/bin/cmp", "/usr/bin/env", "/tmp"} {
			if !s.Has(name) {
				t.Errorf("%s is not there", name)
			}
		}
		if !slices.Contains(listing(t, &s), "-rwxr-xr-x bin/json mine") {
			t.Error("the user's own file lost")
		}
	}
}
