package lockfile

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	digestA = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	digestB = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

func TestLockFile_ComesBackAsWritten(t *testing.T) {
	l := &Lock{Images: map[string]string{"docker.io/acme/b:1": digestB, "127.0.0.1:5000/acme/a:1": digestA, `odd"${name}`: digestA}}
	content := l.Bytes()
	if string(content) != string(l.Bytes()) {
		t.Error("the same images give other bytes")
	}
	if !strings.HasPrefix(string(content), "# Written by ") || strings.Index(string(content), "127.0.0.1") > strings.Index(string(content), "docker.io") {
		t.Errorf("no header, or not in order:\n%s", content)
	}
	dir := t.TempDir()
	if none, diags := Read(dir); none != nil || len(diags) > 0 {
		t.Errorf("there is none: %v %v", none, diags)
	}
	if err := os.WriteFile(filepath.Join(dir, Name), content, 0o644); err != nil {
		t.Fatal(err)
	}
	back, diags := Read(dir)
	if diags.HasErrors() || !maps.Equal(back.Images, l.Images) {
		t.Fatalf("%v %v", back, diags)
	}
	if at := back.At["docker.io/acme/b:1"].String(); at != Name+":9" {
		t.Errorf("at %s", at)
	}
}

func TestLockFile_RefusesABrokenOne(t *testing.T) {
	image := func(name, digest string) string {
		return "image \"" + name + "\" {\n  digest = \"" + digest + "\"\n}\n"
	}
	for text, want := range map[string]string{
		image("a", digestA) + image("a", digestB):                     "at " + Name + ":1",
		image("a", "sha256:12"):                                       "Not a digest",
		"image \"a\" {\n  digest = upper(\"x\")\n}\n":                 "Not a digest",
		"image \"a\" {\n  digest = [for x in [1] : x]\n}\n":           "Not a digest",
		"image \"a\" {}\n":                                            "digest",
		"type \"a\" {}\n":                                             "of a newer deployster: It has a block type,",
		"image \"a\" {\n  until = 1\n}\n":                             "of a newer deployster: It has the attribute until,",
		"format = 2\n":                                                "of a newer deployster: It has the attribute format,",
		"image \"a\" {\n  keys {}\n}\n":                               "of a newer deployster: It has a block keys in a block image,",
		"image {":                                                     "",
		"<<<<<<< HEAD\n" + image("a", digestA) + "=======\n>>>>>>> b": "merge",
		strings.Repeat("(", 100_000):                                  "",
	} {
		l, diags := Parse([]byte(text))
		if l != nil || !diags.HasErrors() || diags[0].Range == nil || !strings.Contains(diags.Error(), want) {
			t.Errorf("%.40q: %v, %v", text, l, diags)
		}
	}
}

func FuzzLockFile(f *testing.F) {
	f.Add([]byte("image \"a\" {\n  digest = \"" + digestA + "\"\n}\n"))
	f.Add([]byte("<<<<<<< HEAD\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		l, diags := Parse(content)
		if diags.HasErrors() {
			return
		}
		again, diags := Parse(l.Bytes())
		if diags.HasErrors() || !maps.Equal(again.Images, l.Images) {
			t.Errorf("%v %v", again, diags)
		}
	})
}
