package source

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/config/limits"
)

// agrees: what is parsed block by block is the tree that hcl's parser makes of the
// whole. It reports whether the file was parsed so.
func agrees(t *testing.T, src []byte) bool {
	t.Helper()
	if limits.Native(src, "f.hcl", false, hcl.InitialPos) != nil {
		return false
	}
	parsed := parseBlocks(src, "f.hcl")
	if parsed == nil {
		return false
	}
	file, diags := hclsyntax.ParseConfig(src, "f.hcl", hcl.InitialPos)
	limits.Metered(file.Body.(*hclsyntax.Body))
	if len(diags) > 0 {
		t.Fatalf("%s\n%.3000q", diags, src)
	}
	if want := file.Body.(*hclsyntax.Body); !reflect.DeepEqual(parsed.Body, want) {
		t.Fatalf("another tree:\n%.3000s", src)
	}
	return true
}

// manifests are those of all tests and of the documentation.
func manifests(t testing.TB) [][]byte {
	t.Helper()
	var out [][]byte
	for _, pattern := range []string{"../testdata/*/*", "../testdata/fuzz/*/*", "../../testdata/script/*", "../../docs/*.md", "../../docs/examples/*/*.hcl"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("nothing in %s (%v)", pattern, err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				continue // a directory
			}
			out = append(out, text)
			out = append(out, blockText.FindAll(text, -1)...)
		}
	}
	return out
}

// blockText finds the manifests in scripts and in the documentation.
var blockText = regexp.MustCompile(`(?m)^(resource|variable|output|locals|plug|deployster|module|check|moved|removed) (?s:.*?)\n}\n`)

// tokens are put together to what may be parsed so, or nearly.
var tokens = []string{"{", "}", "[", "]", "(", ")", "\"", "\"\"", "${", "%{ if ", "$", "%", "$$", "\\", "\n", "\n", "\r\n", "<<EOT\n", "\nEOT\n", "#", "# c\n", "// c\n", "/*", "*/", "a", "for ", "true", "null", "-", "_", "a.b", "${a}", "${ a.b }", "${true}", "a[0]",
	"a(b)", "a + b", "=", " = ", "==", "=>", ":", "::", ".", "...", ",", "1", "1.5", "1e3", "007", " ", "\t", "é", "\xff", "\ufeff", "\x00", "r = 1\n", "r = [1, a.b,\n]\n", "x = \"a ${b} c\"\n", "b \"c\" {\n", "b c {\n", "}\n", "\n}\n", "m = {\n a = 1, \"b\" : {}\n}\n"}

// TestNativeTree_ThatOfHCL compares the trees of the manifests of all tests, of what
// they become when pieces are put into them or taken out, and of pieces alone.
func TestNativeTree_ThatOfHCL(t *testing.T) {
	all := manifests(t)
	whole := 0
	for _, src := range all {
		if agrees(t, src) {
			whole++
		}
	}
	if whole < len(all)/3 {
		t.Errorf("only %d of %d are parsed in blocks", whole, len(all))
	}
	random := rand.New(rand.NewPCG(1, 2))
	changed := 0
	for range 10_000 {
		src := string(all[random.IntN(len(all))])
		if len(src) > 2000 {
			src = ""
		}
		for range 1 + random.IntN(3) {
			at := random.IntN(len(src) + 1)
			src = src[:at] + tokens[random.IntN(len(tokens))] + src[min(len(src), at+random.IntN(2)*random.IntN(5)):]
		}
		for random.IntN(4) == 0 {
			src += tokens[random.IntN(len(tokens))]
		}
		if agrees(t, []byte(src)) {
			changed++
		}
	}
	t.Logf("%d of %d are parsed in blocks, and %d changed ones", whole, len(all), changed)
	if changed == 0 {
		t.Error("nothing that was changed is")
	}
}

func TestNativeTree_Mistake(t *testing.T) {
	if file, diags := parseNative([]byte("a {\n}\nb {\n  x = 1.5.1.\n}\nc {\n}\n"), "f.hcl"); !diags.HasErrors() || len(file.Body.(*hclsyntax.Body).Blocks) == 0 {
		t.Error("a mistake is not found, or keeps all else from being read")
	}
}

func FuzzNative(f *testing.F) {
	for _, text := range tokens {
		f.Add([]byte("resource \"r\" {\n  x = " + text + "\n}\n"))
	}
	f.Fuzz(func(t *testing.T, src []byte) { agrees(t, src) })
}
