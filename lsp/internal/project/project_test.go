package project

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func folder(t *testing.T, files map[string]string) (*Project, string) {
	t.Helper()
	dir := t.TempDir()
	for name, src := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := New("")
	p.Folders(func([]string) []string { return []string{dir} })
	return p, dir
}

// Roots are what calls a module and is called by none; cycles have an end.
func TestRoots_AreThoseThatNobodyCalls(t *testing.T) {
	t.Parallel()
	p, dir := folder(t, map[string]string{
		"prod/main.hcl":      "module \"a\" {\n  source = \"../mods/a\"\n}\n",
		"test/main.hcl":      "module \"a\" {\n  source = \"../mods/a\"\n}\nmodule \"gone\" {\n  source = \"./none\"\n}\n",
		"mods/a/main.hcl":    "module \"b\" {\n  source = \"../b\"\n}\n",
		"mods/b/main.hcl":    "locals {}\n",
		"x/main.hcl":         "module \"y\" {\n  source = \"../y\"\n}\n",
		"y/main.hcl":         "module \"x\" {\n  source = \"../x\"\n}\n",
		".hidden/main.hcl":   "module \"b\" {\n  source = \"../mods/b\"\n}\n",
		"alone/only.hcl":     "locals {}\n",
		"alone/m.test.hcl":   "",
		"none/m.test.hcl":    "",
		"none/vars.auto.hcl": "",
	})
	for name, want := range map[string][]string{"mods/b": {"prod", "test"}, "prod": {"prod"}, "alone": {"alone"}, "x": {"x"}} {
		var got []string
		for _, root := range p.View().Roots(filepath.Join(dir, name)) {
			got = append(got, strings.TrimPrefix(root, dir+"/"))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := p.View().Dirs(); len(got) != 7 {
		t.Errorf("%q", got)
	}
	p.Open(filepath.Join(dir, "new", "main.hcl"), []byte("module \"x\" {\n  source = \"../alone\"\n}\n"))
	if got := p.View().Roots(filepath.Join(dir, "alone")); !slices.Equal(got, []string{filepath.Join(dir, "new")}) {
		t.Errorf("%q", got)
	}
}

// A broken file is read as far as it can be read, and one that is nested too deeply not at all: the parser would not
// return.
func TestFiles_ReadWhatCanBeRead(t *testing.T) {
	t.Parallel()
	p := New("")
	p.Open("/x/main.hcl", []byte("resource \"a\" {\n  type = \n}\nresource \"b\" {}\noutput \"o\" { value = resource.a."))
	file := p.Get("/x/main.hcl")
	if len(file.Decls) < 2 || file.Decls[0].Name != "a" || file.Decls[1].Name != "b" {
		t.Errorf("%+v", file.Decls)
	}
	p.Open("/x/main.hcl", []byte("a = "+strings.Repeat("[", 5000)))
	if file := p.Get("/x/main.hcl"); file.HCL != nil || file.Body() != nil {
		t.Error("it was given to the parser")
	}
	p.Open("/x/main.hcl.json", []byte("{}"))
	if file := p.Get("/x/main.hcl.json"); file.Body() != nil || !file.Manifest {
		t.Errorf("%+v", file)
	}
	p.Close("/x/main.hcl")
	if p.Get("/x/main.hcl") != nil || p.Opened("/x/main.hcl") != nil {
		t.Error("it is still there")
	}
}

// A file that changes on the disk is read again, one that does not is not.
func TestFiles_FollowTheDisk(t *testing.T) {
	t.Parallel()
	p, dir := folder(t, map[string]string{"main.hcl": "locals { a = 1 }\n"})
	path := filepath.Join(dir, "main.hcl")
	first := p.Get(path)
	if again := p.Get(path); again != first {
		t.Error("it was read twice")
	}
	if err := os.WriteFile(path, []byte("locals { bc = 1 }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if next := p.Get(path); len(next.Decls) != 1 || next.Decls[0].Name != "bc" {
		t.Errorf("%+v", next.Decls)
	}
}

// The places of names, without dots, brackets and quotes.
func TestIndex_FindsNames(t *testing.T) {
	t.Parallel()
	p := New("")
	const src = "output \"o\" {\n  value = [resource.web[\"ä\"].state, resource[\"x-y\"].state, module.m[0].out, \"${ var . size }\", resource.a[*].name, " +
		"path.root]\n}\nmoved {\n  from = resource.old\n  to = resource.web\n}\n"
	p.Open("/x/main.hcl", []byte(src))
	var got []string
	for _, r := range p.Get("/x/main.hcl").Refs {
		text := src[r.At.Start.Byte:r.At.End.Byte]
		if text != r.Name {
			t.Errorf("%q is %q", r.Name, text)
		}
		name := r.Address()
		if r.Via != "" {
			name += " via " + r.Via
		}
		if r.Moved {
			name += " moved"
		}
		got = append(got, name)
	}
	want := []string{"resource.web", "resource.x-y", "module.m", "output.out via m", "var.size", "resource.a", "resource.old moved", "resource.web moved"}
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
