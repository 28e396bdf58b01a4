package source

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcled"
)

// TestWithoutBody_KeepsContexts compares the context at each byte of a file with that of
// hcl's own navigation, and wants the syntax to be gone.
func TestWithoutBody_KeepsContexts(t *testing.T) {
	for name, text := range map[string]string{
		"a.hcl": "locals {\n  a = 1\n}\n\nresource \"web\" {\n  config = { a = local.a }\n}\na = 1\n\nmoved {\n  from = resource.a\n}\n" +
			"other \"x\" \"y \\\"z\\\"\" {}\n",
		"a.hcl.json": `{"resource": {"web": {"type": "x", "config": {"a": 1}}}}`,
	} {
		file, diags := parseFile(File{Path: name, Bytes: []byte(text)})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		kept := withoutBody(file)
		if kept.Body != nil || string(kept.Bytes) != text {
			t.Errorf("%s: body %v, text %q", name, kept.Body, kept.Bytes)
		}
		contexts := map[string]bool{}
		for at := range len(text) + 1 {
			got, want := hcled.ContextString(kept, at), hcled.ContextString(file, at)
			if got != want {
				t.Errorf("%s: context at %d is %q, want %q", name, at, got, want)
			}
			contexts[want] = true
		}
		if len(contexts) < 2 {
			t.Errorf("%s has the contexts %v", name, contexts)
		}
	}
}

// TestParse_KeepsNoSyntax wants blocks to be collectable once they are decoded.
func TestParse_KeepsNoSyntax(t *testing.T) {
	s := New(Sources{}, Builtins{})
	if _, diags := s.Parse([]File{{Path: "a.hcl", Bytes: []byte("a {}\n")}}); diags.HasErrors() {
		t.Fatal(diags)
	}
	s.bodies["module"] = []hcl.Body{hcl.EmptyBody()}
	s.Release()
	if f := s.files["a.hcl"]; f == nil || f.Body != nil || len(s.bodies) > 0 {
		t.Errorf("kept: %+v, %d bodies", f, len(s.bodies))
	}
}
