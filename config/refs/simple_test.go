package refs

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// What is found of a plain expression without the walk is what the walk finds.
func TestFacts_AreThoseOfTheWalk(t *testing.T) {
	files, err := filepath.Glob("../testdata/*/*.hcl")
	if err != nil || len(files) == 0 {
		t.Fatalf("nothing to look at (%v)", err)
	}
	plain, all := 0, 0
	see := func(n hclsyntax.Node) hcl.Diagnostics {
		expr, ok := n.(hclsyntax.Expression)
		if !ok {
			return nil
		}
		all++
		got, ok := classified(expr)
		if isConstant(expr) {
			got, ok = &noFacts, true
		}
		want := walkedFacts(expr)
		if ok {
			want.Simple = got.Simple // which is not the walk's to say
		}
		if ok && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, and %+v when it is walked", expr.Range(), got, want)
		}
		if ok {
			plain++
		}
		return nil
	}
	for _, name := range append(files, "") {
		src := []byte("a = { a = b.c }\nb = { (d) = e }\nc = { \"f\" = [g, { h = i }, true] }\nd = { \"${j}\" = k }\ne = { l.m = n }\nf = { (1) = 2 }\ng = { o = \"p${q}r\", s = \"${t}\" }\nh = { null = u }\ni = { \"v${w}\" = x }\n")
		if name != "" {
			if src, err = os.ReadFile(name); err != nil {
				t.Fatal(err)
			}
		}
		if file, _ := hclsyntax.ParseConfig(src, name, hcl.InitialPos); file.Body != nil {
			_ = hclsyntax.VisitAll(file.Body.(*hclsyntax.Body), see) // it reports nothing
		}
	}
	if plain < all/5 {
		t.Errorf("only %d of %d expressions are plain", plain, all)
	}
}
