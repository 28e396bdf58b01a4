package page

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestTable_IsComparedAndWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	for _, end := range []string{"", "\nmore text\n"} {
		text := "before\n\n| a | b |\n|---|---|\n| old | 1 |\n" + end
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		table := Table{path, []string{"a", "b"}, [][]string{{"x|y", `\x1b`}, {"new", "2\n3"}}}
		if err := table.Check(false); err == nil || !strings.Contains(err.Error(), "differs") {
			t.Errorf("a table that differs is accepted: %v", err)
		}
		if err := table.Check(true); err != nil {
			t.Fatal(err)
		}
		got, _ := os.ReadFile(path)
		if want := "before\n\n| a | b |\n|---|---|\n| x\\|y | \\\\x1b |\n| new | 2 3 |\n" + end; string(got) != want {
			t.Errorf("%q, want %q", got, want)
		}
		if err := table.Check(false); err != nil {
			t.Errorf("a written table differs: %v", err)
		}
		table.Header = []string{"a", "c"}
		if table.Check(true) == nil {
			t.Error("a table that is not in the page is written")
		}
	}
}

func TestGroup_JoinsEqualRows(t *testing.T) {
	got := Group([][]string{{"refused", "1", "a"}, {"taken", "0", "b"}, {"refused", "1", "c"}, {"refused", "0", "d"}})
	if want := [][]string{{"refused", "1", "a; c"}, {"taken", "0", "b"}, {"refused", "0", "d"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
