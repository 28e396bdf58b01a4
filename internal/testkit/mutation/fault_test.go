package mutation_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

const sample = `package p

type box struct {
	Size int ` + "`json:\"size\"`" + `
}

func (b *box) fits(n int, limit error) (ok bool) {
	m := half(n)
	if m > 0 && n < b.Size || n == 7 {
		return false
	}
	defer close(n)
	b.Size = max(n, 3)
	put(n)
	if limit != nil {
		warn(limit)
	}
	if limit != nil {
		stop(limit)
	}
	return true
}
`

func TestChanged_ReplacesOnePlace(t *testing.T) {
	t.Parallel()
	sources := sampleModule(t)
	for _, c := range []struct{ place, change, was, is string }{
		{"if Size", "false", "m > 0 && n < b.Size || n == 7", "false"},
		{"if after half", "$ && false", "m > 0 && n < b.Size || n == 7", "(m > 0 && n < b.Size || n == 7) && false"},
		{"operand Size", "-", "m > 0 && n < b.Size ||", "m > 0 ||"},
		{"operand Size", "$1 > $2", "n < b.Size", "n > b.Size"},
		{"operand 7", "-", " || n == 7", ""},
		{"if Size > return", "true", "return false", "return true"},
		{"if then stop", "true", "if limit != nil {\n\t\tstop", "if true {\n\t\tstop"},
		{"set max", "$2", "max(n, 3)", "3"},
		{"target max", "_", "b.Size = max", "_ = max"},
		{"call put", "$f($r.Size)", "put(n)", "put(b.Size)"},
		{"statement put", "-", "put(n)", ""},
		{"defer", "-", "defer close", "close"},
	} {
		path, got, err := sources.Changed(mutation.Fault{Package: "p", In: "box.fits", Place: c.place, Change: c.change})
		if err != nil || path != "p/p.go" || string(got) != strings.Replace(sample, c.was, c.is, 1) {
			t.Errorf("%s => %s: %s, %v:\n%s", c.place, c.change, path, err, got)
		}
	}
	_, got, err := sources.Changed(mutation.Fault{Package: "p", In: "box", Place: "tag Size", Change: "`json:\"-\"`"})
	if err != nil || !strings.Contains(string(got), `json:"-"`) {
		t.Errorf("tag: %v:\n%s", err, got)
	}
}

func TestChanged_RefusesPlacesThatAreNotOne(t *testing.T) {
	t.Parallel()
	sources := sampleModule(t)
	for _, c := range []struct{ in, place, change, want string }{
		{"box.gone", "if Size", "false", "does not declare box.gone"},
		{"box.fits", "if nil", "false", "names 2 places: line 15, 18"},
		{"box.fits", "if limit", "false", "names 0 places"},
		{"box.fits", "if nil #3", "false", "names 2 places"},
		{"box.fits", "loop", "false", "does not begin with a kind of code"},
		{"box.fits", "if Size", "-", "cannot be removed"},
		{"box.fits", "if Size", "$", "changes nothing"},
		{"box.fits", "if Size", ") {", "is not Go"},
		{"box.fits", "call put", "$2", "has no $2"},
	} {
		_, _, err := sources.Changed(mutation.Fault{Package: "p", In: c.in, Place: c.place, Change: c.change})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %s => %s: expected an error with %q, got %v", c.in, c.place, c.change, c.want, err)
		}
	}
}

func sampleModule(t *testing.T) *mutation.Sources {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "p"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "p", "p.go"), []byte(sample), 0o600); err != nil {
		t.Fatal(err)
	}
	return mutation.NewSources(dir)
}
