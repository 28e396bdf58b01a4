package layout

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// A line of a text that is made of marked items leads back to the line of the item, and not beyond its end.
func TestFind_LeadsBack(t *testing.T) {
	t.Parallel()
	const old = "# head\na = 1\n\n\n# of b\nb = [\n  1,\n  2,\n] # behind\nc {\n  d = 1\n}\n# tail\n"
	f, diags := hclsyntax.ParseConfig([]byte(old), "x", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	list, rest := Items([]byte(old), f.Body.(*hclsyntax.Body))
	var b strings.Builder
	b.WriteString("made up\n")
	for _, name := range []string{"c", "b", "a"} { // in another order
		for _, it := range list {
			if it.Name == name {
				r := it.At()
				b.WriteString(it.Lead + old[r.Start.Byte:r.End.Byte] + it.Trail + "\n")
			}
		}
	}
	text, places := Unmark(b.String() + rest)
	want := []struct {
		line string
		old  int // 0 = it is not known
	}{{"made up", 0}, {"c {", 10}, {"  d = 1", 11}, {"}", 12}, {"# of b", 12}, {"b = [", 6}, {"  1,", 7}, {"  2,", 8}, {"] # behind", 9}, {"# head", 9}, {"a = 1", 2}, {"# tail", 2}}
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if i >= len(want) || line != want[i].line {
			t.Fatalf("the text is\n%s", text)
		}
		if got, ok := Find(places, i+1); got != want[i].old || ok != (want[i].old > 0) {
			t.Errorf("%q was on line %d, %t; want %d", line, got, ok, want[i].old)
		}
	}
}
