package tree

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestPack_UnpackMakesTheSame(t *testing.T) {
	dir := made(t, map[string]string{"a": "1", "d/b": "22", "d/e/": "", "l>../../etc/passwd": "", "new\nline": "", "\xff": "3"})
	for name, mode := range map[string]os.FileMode{"a": 0o4755, "d/b": 0o600, "d": 0o2555} {
		if err := os.Chmod(filepath.Join(dir, name), mode.Perm()|os.ModeSetuid*(mode>>11&1)|os.ModeSetgid*(mode>>10&1)); err != nil {
			t.Fatal(err)
		}
	}
	var archive bytes.Buffer
	if err := Pack(t.Context(), &archive, dir); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "copy")
	if err := Unpack(t.Context(), &archive, copied); err != nil {
		t.Fatal(err)
	}
	if was, is := hashOf(t, dir), hashOf(t, copied); was != is {
		t.Errorf("%s became %s", was, is)
	}
	was, _ := os.Stat(filepath.Join(dir, "a"))
	if is, err := os.Stat(filepath.Join(copied, "a")); err != nil || !is.ModTime().Equal(was.ModTime()) {
		t.Errorf("%v, %v", is, err)
	}
}

// What another machine sends makes nothing outside of the directory.
func TestUnpack_StaysInside(t *testing.T) {
	file := func(name string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644} }
	for name, headers := range map[string][]tar.Header{
		"a path above":         {file("../x")},
		"an absolute path":     {file("/x")},
		"through a link":       {{Name: "l", Typeflag: tar.TypeSymlink, Linkname: ".."}, file("l/x")},
		"over a link":          {{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "../x"}, file("l")},
		"a hard link":          {{Name: "x", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}},
		"a device":             {{Name: "x", Typeflag: tar.TypeChar}},
		"a directory's link":   {{Name: "l", Typeflag: tar.TypeSymlink, Linkname: ".."}, {Name: "l", Typeflag: tar.TypeDir, Mode: 0o777}},
		"an archive that ends": nil,
	} {
		t.Run(name, func(t *testing.T) {
			var archive bytes.Buffer
			w := tar.NewWriter(&archive)
			for _, h := range headers {
				if err := w.WriteHeader(&h); err != nil {
					t.Fatal(err)
				}
			}
			if headers == nil {
				archive.Write(make([]byte, 100))
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := Unpack(t.Context(), &archive, filepath.Join(dir, "to")); err == nil {
				t.Error("it is taken")
			}
			if _, err := os.Lstat(filepath.Join(dir, "x")); !errors.Is(err, os.ErrNotExist) {
				t.Error("something was made outside")
			}
			if info, err := os.Stat(dir); err != nil || info.Mode().Perm() == 0o777 {
				t.Errorf("the directory above was changed: %v, %v", info.Mode(), err)
			}
		})
	}
}
