package config

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// Formatting is done when it is done once, keeps every word, and leaves alone
// what cannot be parsed. Over all manifests that there are.
func TestFormat_IsIdempotentAndKeepsEveryToken(t *testing.T) {
	t.Parallel()
	formatted := 0
	for name, src := range corpus(t) {
		if filepath.Ext(name) != ".hcl" {
			continue
		}
		if checkFormat(t, name, src) {
			formatted++
		}
	}
	if formatted < 60 {
		t.Errorf("only %d files were formatted", formatted)
	}
}

// checkFormat is what must be true of any text.
func checkFormat(t *testing.T, name string, src []byte) bool {
	t.Helper()
	before := bytes.Clone(src)
	once, diags := Format(name, src)
	if !bytes.Equal(src, before) {
		t.Errorf("%s: the source was changed in place", name)
	}
	if diags.HasErrors() {
		if once != nil {
			t.Errorf("%s: formatted although %v", name, diags)
		}
		return false
	}
	twice, diags := Format(name, once)
	if diags.HasErrors() || !bytes.Equal(once, twice) {
		t.Errorf("%s: formatting again changes it: %v\n%q\n%q\n%q", name, diags, src, once, twice)
	}
	return true
}

func TestFormat_AlignsTheExamples(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2]string{
		"spaces":    {"locals {\na=1\n  bbb   =  2 # two\n}\n", "locals {\n  a   = 1\n  bbb = 2 # two\n}\n"},
		"nested":    {"resource \"a\" {\ntype=\"x\"\nconfig={\nl=[\n1,2]\n}\n}\n", "resource \"a\" {\n  type = \"x\"\n  config = {\n    l = [\n    1, 2]\n  }\n}\n"},
		"heredoc":   {"locals {\na=<<E\n  keep   this\nE\n}\n", "locals {\n  a = <<E\n  keep   this\nE\n}\n"},
		"operators": {"locals {\na=1+2*(3-4)\nb=!true\n}\n", "locals {\n  a = 1 + 2 * (3 - 4)\n  b = !true\n}\n"},
		"variables": {"a=1\nbb=\"x\"\n", "a  = 1\nbb = \"x\"\n"},
		"empty":     {"", ""},
		"comment":   {"#x\n", "#x\n"},
	} {
		got, diags := Format(name, []byte(c[0]))
		if diags.HasErrors() || string(got) != c[1] {
			t.Errorf("%s: %v\n got %q\nwant %q", name, diags, got, c[1])
		}
	}
	for _, bad := range []string{"locals {\n a=1\n", "a = \xff\n", "a = [" + strings.Repeat("[", 200)} {
		if _, diags := Format("bad.hcl", []byte(bad)); !diags.HasErrors() || diags[0].Range == nil || diags[0].Range.Filename != "bad.hcl" {
			t.Errorf("%.40q: %v", bad, diags)
		}
	}
}

// FuzzFormat: no text makes it panic, lose a word, or change its mind.
func FuzzFormat(f *testing.F) {
	for _, text := range corpus(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, diags := Format("x.hcl", text)
		for _, d := range diags {
			if d.Summary == "Cannot be formatted" {
				t.Fatalf("%v\n%q", d, text)
			}
		}
		checkFormat(t, "x.hcl", text)
	})
}
