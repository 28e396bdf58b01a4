package identity_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"deployster/internal/testkit/identity"
)

var update = flag.Bool("update", false, "write the table of edits into the documentation")

// page has the table, between two lines.
const (
	page  = "../../../docs/refactoring.md"
	above = "<!-- edits -->\n"
	below = "<!-- end of edits -->\n"
)

// The documentation has a row for each edit, with what became of it here and with
// terraform.
func TestEdits_Page(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, begins := strings.Cut(string(text), above)
	_, foot, ends := strings.Cut(rest, below)
	if !begins || !ends {
		t.Fatalf("%s has no place for the table", page)
	}
	theirs := readMeasured(t)
	var b strings.Builder
	b.WriteString("| | edit | `plan -compact` prints | what is run | Terraform, for comparison |\n|---|---|---|---|---|\n")
	for i, e := range edits() {
		l, err := newLab(t.TempDir(), identity.NewWorld())
		if err != nil {
			t.Fatal(err)
		}
		r, err := run(t.Context(), l, e)
		if err != nil {
			t.Fatalf("%s: %v", e.name, err)
		}
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %s |\n", i+1, e.name, cell(r.plan), cell(r.done), compared(e, theirs))
	}
	whole := head + above + b.String() + below + foot
	if whole == string(text) {
		return
	}
	if !*update {
		t.Fatalf("the table of edits is not that of today: go test ./internal/testkit/identity -run TestEdits_Page -update\n%s", b.String())
	}
	if err := os.WriteFile(page, []byte(whole), 0o644); err != nil {
		t.Fatal(err)
	}
}

func cell(text string) string {
	if text == "" {
		return "nothing"
	}
	return "`" + strings.ReplaceAll(text, "; ", "`<br>`") + "`"
}

// compared says what terraform made of an edit, and what was lost by it.
func compared(e edit, all map[string]measured) string {
	if e.alone {
		return "not measured: it takes a second provider"
	}
	m, known := all[e.name]
	if !known {
		return "not measured yet: `make edits`"
	}
	want := e.want
	if want == nil {
		want = declared(e.after)
	}
	lost, left := map[string]int{}, map[string]int{}
	for _, end := range m.Ends {
		there := strings.Fields(end)
		for _, id := range want {
			if !slices.Contains(there, id) {
				lost[id]++
			}
		}
		for _, id := range there {
			if !slices.Contains(want, id) {
				left[id]++
			}
		}
	}
	words := strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(m.Plan, ", 0 to change", ""), ", 0 to destroy", ""), "0 to add, ", "")
	if words == "0 to add" {
		words = "no changes"
	}
	return words + happens(lost, len(m.Ends), "is missing", "may be missing") + happens(left, len(m.Ends), "stays", "may stay")
}

// happens says which things it happened to, in each run or in some of them.
func happens(to map[string]int, runs int, always, sometimes string) string {
	words := ""
	for _, id := range slices.Sorted(maps.Keys(to)) {
		how := always
		if to[id] < runs {
			how = sometimes
		}
		words += fmt.Sprintf("; **%s %s**", id, how)
	}
	return words
}
