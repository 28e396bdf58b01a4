package content_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"deployster/machine/internal/access"
	"deployster/machine/internal/content"
	"deployster/machine/internal/kindtest"
	"deployster/protocol"
)

type config = kindtest.Config

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func machine(t *testing.T) *access.Machine {
	t.Helper()
	m := &access.Machine{Root: t.TempDir()}
	must(t, os.MkdirAll(m.Path("/srv"), 0o755))
	return m
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// server serves contents by their paths, and counts the requests.
func server(t *testing.T, contents map[string][]byte) (url string, requests *int) {
	t.Helper()
	requests = new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*requests++
		data, ok := contents[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(data)
	}))
	t.Cleanup(s.Close)
	return s.URL, requests
}

// listing lists what is below a directory.
func listing(t *testing.T, directory string) (list []string) {
	t.Helper()
	must(t, filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if name, _ := filepath.Rel(directory, path); err == nil && name != "." {
			info, err := entry.Info()
			must(t, err)
			text := fmt.Sprintf("%s %o", name, info.Mode().Perm())
			if entry.Type() == 0 {
				data, err := os.ReadFile(path)
				must(t, err)
				text += " " + string(data)
			}
			list = append(list, text)
		}
		return err
	}))
	return list
}

func TestDownload_IsFetchedOnceAndChecked(t *testing.T) {
	t.Parallel()
	m := machine(t)
	data := []byte("program")
	url, requests := server(t, map[string][]byte{"/good": data, "/bad": []byte("other")})
	r := kindtest.New(t, content.NewDownload(m))
	c := config{"path": "/srv/tool", "url": url + "/good", "sha256": sum(data), "mode": "0755"}
	r.Apply(c)
	if a := r.State(c); a.Status != protocol.Valid {
		t.Errorf("%+v", a)
	}
	c["mode"] = "0700"
	r.Apply(c)
	if *requests != 1 {
		t.Errorf("%d requests", *requests)
	}
	c["url"] = url + "/bad"
	if a := r.State(c); a.Status != protocol.Valid { // the content is right, wherever it came from
		t.Errorf("%+v", a)
	}
	c["sha256"] = sum([]byte("new"))
	r.Fails(c, "/bad has the sha256 "+sum([]byte("other")), "nothing was changed")
	c["url"] = url + "/none"
	r.Fails(c, "404 Not Found")
	if got := listing(t, m.Path("/srv")); !slices.Equal(got, []string{"tool 700 program"}) {
		t.Errorf("%q", got)
	}
	must(t, os.WriteFile(m.Path("/srv/tool"), []byte("drift"), 0o700))
	c["url"], c["sha256"] = url+"/good", sum(data)
	if a := r.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Path != "/sha256" {
		t.Errorf("%+v", a.Reasons)
	}
	r.Destroy(c)
	r.Fails(config{"path": "/srv", "url": url, "sha256": sum(data)}, "config", "/path", "not a regular file")
	r.Fails(config{"path": "/srv/no/x", "url": url, "sha256": sum(data)}, "the directory /srv/no does not exist")
}

// packed returns a tar file; a name that ends with / is a directory, and a content that begins with
// -> is a link.
func packed(t *testing.T, pairs ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		h := &tar.Header{Name: pairs[i], Typeflag: tar.TypeReg, Mode: 0o6755, Size: int64(len(pairs[i+1]))}
		if strings.HasSuffix(pairs[i], ".txt") {
			h.Mode = 0o666
		}
		if target, ok := strings.CutPrefix(pairs[i+1], "->"); ok {
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, target, 0
		} else if target, ok := strings.CutPrefix(pairs[i+1], "=>"); ok {
			h.Typeflag, h.Linkname, h.Size = tar.TypeLink, target, 0
		} else if pairs[i+1] == "fifo" {
			h.Typeflag, h.Size = tar.TypeFifo, 0
		} else if strings.HasSuffix(pairs[i], "/") {
			h.Typeflag = tar.TypeDir
		}
		must(t, w.WriteHeader(h))
		if h.Size > 0 {
			_, err := w.Write([]byte(pairs[i+1]))
			must(t, err)
		}
	}
	must(t, w.Close())
	return b.Bytes()
}

func archive(t *testing.T, m *access.Machine, data []byte, more config) (*kindtest.Resource, config) {
	t.Helper()
	name := "/" + sum(data)[:8]
	must(t, os.WriteFile(m.Path(name), data, 0o600))
	c := config{"path": "/srv/app", "source": name, "sha256": sum(data)}
	for key, value := range more {
		c[key] = value
	}
	return kindtest.New(t, content.NewArchive(m)), c
}

func TestArchive_IsSwitchedAtOnce(t *testing.T) {
	t.Parallel()
	m := machine(t)
	r, one := archive(t, m, packed(t, "app-1/", "", "app-1/bin/run", "one", "app-1/a.txt", "a", "app-1/link", "->a.txt", "app-1/hard", "=>app-1/a.txt"),
		config{"strip": 1})
	r.Apply(one)
	if got := listing(t, m.Path("/srv/app-"+one["sha256"].(string)[:16])); !slices.Equal(got, []string{"a.txt 644 a", "bin 755", "bin/run 755 one",
		"hard 644 a", "link 777"}) {
		t.Errorf("%q", got)
	}
	if a := r.State(one); a.Status != protocol.Valid {
		t.Errorf("%+v", a)
	}
	_, two := archive(t, m, packed(t, "run", "two"), nil)
	if a := r.Apply(two); len(a.Reasons) != 1 || a.Reasons[0].Path != "/sha256" {
		t.Errorf("%+v", a.Reasons)
	}
	if text, err := os.ReadFile(m.Path("/srv/app/run")); err != nil || string(text) != "two" {
		t.Errorf("%s %v", text, err)
	}
	if _, err := os.Stat(m.Path("/srv/app-" + one["sha256"].(string)[:16])); err != nil {
		t.Error("the former version is gone, in which a program may run")
	}
	_, three := archive(t, m, packed(t, "run", "three"), nil)
	r.Apply(three)
	if _, err := os.Stat(m.Path("/srv/app-" + one["sha256"].(string)[:16])); err == nil {
		t.Error("an old version is left")
	}
	r.Apply(one)
	r.Destroy(one)
	if got := listing(t, m.Path("/srv")); len(got) != 0 {
		t.Errorf("%q is left", got)
	}
	r.Destroy(one)
}

func TestArchive_DriftIsNoticed(t *testing.T) {
	t.Parallel()
	m := machine(t)
	r, c := archive(t, m, packed(t, "run", "one", "a.txt", "a"), nil)
	r.Apply(c)
	must(t, os.WriteFile(m.Path("/srv/app/log"), []byte("of a program"), 0o600))
	if a := r.State(c); a.Status != protocol.Valid {
		t.Errorf("%+v", a)
	}
	must(t, os.WriteFile(m.Path("/srv/app/run"), []byte("changed"), 0o755))
	if a := r.Apply(c); !strings.Contains(a.Reasons[0].Message, ": run") || !a.Actions[0].Destructive || !strings.Contains(a.Actions[0].Description, "log") {
		t.Errorf("%+v", a)
	}
	must(t, os.RemoveAll(m.Path("/srv/app-"+c["sha256"].(string)[:16])))
	r.Apply(c)
	must(t, os.Remove(m.Path("/srv/app")))
	must(t, os.Symlink("elsewhere", m.Path("/srv/app")))
	if a := r.Apply(c); !strings.Contains(a.Reasons[len(a.Reasons)-1].Message, "leads to elsewhere") {
		t.Errorf("%+v", a.Reasons)
	}
	must(t, os.Remove(m.Path("/srv/app")))
	must(t, os.Mkdir(m.Path("/srv/app"), 0o755))
	r.Fails(c, "config", "/path", "is not a link")
}

func TestArchive_HostileOnesAreRefused(t *testing.T) {
	t.Parallel()
	var zipped bytes.Buffer
	z := zip.NewWriter(&zipped)
	f, err := z.Create("../../etc/passwd")
	must(t, err)
	_, err = f.Write([]byte("x"))
	must(t, err)
	must(t, z.Close())
	var bomb bytes.Buffer
	g := gzip.NewWriter(&bomb)
	_, err = g.Write(packed(t, "zeros", strings.Repeat("\x00", 3<<20)))
	must(t, err)
	must(t, g.Close())
	for name, hostile := range map[string]struct {
		data []byte
		want string
	}{
		"dots":           {packed(t, "a/../../x", "x"), "leads out of its directory"},
		"hidden dots":    {packed(t, "a/../x", "x"), "leads out of its directory"},
		"absolute":       {packed(t, "/etc/passwd", "x"), "leads out of its directory"},
		"zip":            {zipped.Bytes(), "leads out of its directory"},
		"link":           {packed(t, "etc", "->/etc", "etc/passwd", "x"), "leads out of its directory"},
		"relative link":  {packed(t, "a/b", "->../../x"), "leads out of its directory"},
		"through a link": {packed(t, "d", "->e", "d/x", "x"), "cannot be made"},
		"hard link":      {packed(t, "x", "=>../../etc/passwd"), "leads out of its directory"},
		"fifo":           {packed(t, "x", "fifo"), "neither a file, a directory nor a link"},
		"bomb":           {bomb.Bytes(), "more than 2M unpacked"},
		"twice":          {packed(t, "x", "1", "x", "2"), "has it twice"},
		"half of one":    {packed(t, "x", strings.Repeat("y", 2000))[:1500], "unexpected EOF"},
		"text":           {[]byte("<html>"), "neither a zip nor a tar file"},
		"nothing":        {packed(t), "neither a zip nor a tar file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := machine(t)
			r, c := archive(t, m, hostile.data, config{"max_size": "2M"})
			r.Fails(c, hostile.want)
			if got := listing(t, m.Path("/srv")); len(got) != 0 {
				t.Errorf("%q is there", got)
			}
		})
	}
}

func TestArchive_ChecksumIsComparedBeforeItIsUnpacked(t *testing.T) {
	t.Parallel()
	m := machine(t)
	url, _ := server(t, map[string][]byte{"/x": packed(t, "x", "1")})
	r := kindtest.New(t, content.NewArchive(m))
	r.Fails(config{"path": "/srv/app", "url": url + "/x", "sha256": sum(nil)}, "and the config declares", "nothing was changed")
	if got := listing(t, m.Path("/srv")); len(got) != 0 {
		t.Errorf("%q is there", got)
	}
	r.Fails(config{"path": "/srv/app", "sha256": sum(nil)}, "config", "/url", "give url or source")
}

func TestArchive_AllFormats(t *testing.T) {
	t.Parallel()
	plain := packed(t, "run", "one")
	formats := map[string][]byte{"tar": plain}
	var z, x bytes.Buffer
	zw, err := zstd.NewWriter(&z)
	must(t, err)
	xw, err := xz.NewWriter(&x)
	must(t, err)
	for _, w := range []interface {
		Write([]byte) (int, error)
		Close() error
	}{zw, xw} {
		_, err := w.Write(plain)
		must(t, err)
		must(t, w.Close())
	}
	formats["zstd"], formats["xz"] = z.Bytes(), x.Bytes()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	h := &zip.FileHeader{Name: "run"}
	h.SetMode(0o755)
	f, err := w.CreateHeader(h)
	must(t, err)
	_, err = f.Write([]byte("one"))
	must(t, err)
	must(t, w.Close())
	formats["zip"] = b.Bytes()
	for name, data := range formats {
		m := machine(t)
		r, c := archive(t, m, data, nil)
		r.Apply(c)
		if got := listing(t, m.Path("/srv/app-"+sum(data)[:16])); !slices.Equal(got, []string{"run 755 one"}) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// source makes a directory that stands for that of a plug.
func source(t *testing.T, m *access.Machine, with map[string]string) string {
	t.Helper()
	must(t, os.MkdirAll(m.Path("/opt"), 0o755))
	directory, err := os.MkdirTemp(m.Path("/opt"), "source")
	must(t, err)
	for name, text := range with {
		path := filepath.Join(directory, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		mode := fs.FileMode(0o600)
		if strings.HasPrefix(text, "#!") {
			mode = 0o700
		}
		if target, link := strings.CutPrefix(text, "->"); link {
			must(t, os.Symlink(target, path))
		} else if !strings.HasSuffix(name, "/") {
			must(t, os.WriteFile(path, []byte(text), mode))
		} else {
			must(t, os.MkdirAll(path, 0o755))
		}
	}
	return strings.TrimPrefix(directory, m.Root)
}

func TestTree_WhatOthersPutThereStays(t *testing.T) {
	t.Parallel()
	m := machine(t)
	r := kindtest.New(t, content.NewTree(m))
	c := config{"path": "/srv/site", "source": source(t, m, map[string]string{"index.html": "one", "bin/run": "#!", "l": "->index.html", "old/x": "x",
		"empty/": ""})}
	r.Apply(c)
	if got := listing(t, m.Path("/srv/site")); !slices.Equal(got, []string{"bin 755", "bin/run 755 #!", "empty 755", "index.html 644 one", "l 777",
		"old 755", "old/x 644 x"}) {
		t.Errorf("%q", got)
	}
	must(t, os.WriteFile(m.Path("/srv/site/upload"), []byte("theirs"), 0o600))
	if a := r.State(c); a.Status != protocol.Valid {
		t.Errorf("%+v", a)
	}
	c["source"] = source(t, m, map[string]string{"index.html": "two", "bin/run": "#!", "l": "->bin", "new": "n"})
	a := r.Apply(c)
	if len(a.Reasons) != 2 || a.Reasons[0].Message != "these are missing or not as the source has them: index.html, l, new" ||
		a.Reasons[1].Message != "these came from an earlier source, and are removed: old/x" || a.Actions[0].Destructive {
		t.Errorf("%+v", a)
	}
	if got := listing(t, m.Path("/srv/site")); !slices.Equal(got, []string{"bin 755", "bin/run 755 #!", "index.html 644 two", "l 777", "new 644 n",
		"upload 600 theirs"}) {
		t.Errorf("%q", got)
	}
	c["delete"] = true
	if a := r.Apply(c); !a.Actions[0].Destructive || a.Reasons[0].Path != "/delete" || !strings.Contains(a.Actions[0].Description, "upload") {
		t.Errorf("%+v", a)
	}
	must(t, os.WriteFile(m.Path("/srv/site/upload"), []byte("theirs"), 0o600))
	delete(c, "delete")
	r.Destroy(c)
	if got := listing(t, m.Path("/srv")); !slices.Equal(got, []string{"site 755", "site/upload 600 theirs"}) {
		t.Errorf("%q", got)
	}
	r.Apply(c)
	c["delete"] = true
	if a := r.Destroy(c); !a.Actions[0].Destructive {
		t.Errorf("%+v", a)
	}
	if got := listing(t, m.Path("/srv")); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func TestTree_ModesAndDrift(t *testing.T) {
	t.Parallel()
	m := machine(t)
	r := kindtest.New(t, content.NewTree(m))
	c := config{"path": "/srv/site", "source": source(t, m, map[string]string{"a": "a", "d/run": "#!"}), "mode": "0640", "owner": "1234"}
	r.Apply(c)
	if got := listing(t, m.Path("/srv/site")); !slices.Equal(got, []string{"a 640 a", "d 750", "d/run 750 #!"}) {
		t.Errorf("%q", got)
	}
	must(t, os.Chmod(m.Path("/srv/site/d"), 0o777))
	must(t, os.Chown(m.Path("/srv/site/a"), 0, 0))
	must(t, os.Remove(m.Path("/srv/site/d/run")))
	if a := r.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Message != "these are missing or not as the source has them: a, d, d/run" {
		t.Errorf("%+v", a.Reasons)
	}
	must(t, os.Remove(m.Path("/srv/site/a")))
	must(t, os.Mkdir(m.Path("/srv/site/a"), 0o755))
	r.Fails(c, "is a directory, and is not replaced by a file")
	c = config{"path": "/srv/site", "source": "/no"}
	if a := r.State(c); len(a.Reasons) != 1 || a.Reasons[0].Message != "/no does not exist yet" {
		t.Errorf("%+v", a)
	}
	r.Fails(c, "/no does not exist: depend on the resource that makes it")
}
