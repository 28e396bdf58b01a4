package source

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcled"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Of each place it says what hcl says.
func TestOutline(t *testing.T) {
	src := "# nothing\nlocals {\n  a = 1\n}\n\nresource \"we\\\"b\" {\n  config = {\n    x = \"ü\"\n  }\n}\nb \"x\" \"y\" { z = 1 }"
	file, diags := hclsyntax.ParseConfig([]byte(src), "main.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	short, seen := outlined(file), map[string]bool{}
	if short.Body != nil || string(short.Bytes) != src {
		t.Errorf("%+v", short)
	}
	for offset := range len(src) + 2 {
		want := hcled.ContextString(file, offset)
		if got := hcled.ContextString(short, offset); got != want {
			t.Errorf("at %d: %q, want %q", offset, got, want)
		}
		seen[want] = true
	}
	if len(seen) != 4 {
		t.Errorf("the file has %v", seen)
	}
}
