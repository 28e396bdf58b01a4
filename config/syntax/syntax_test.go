package syntax

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/config/limits"
)

// agrees: whatever is read by hand or in pieces is the tree that hcl's parser makes
// of the whole. It reports whether the file was read so.
func agrees(t *testing.T, src []byte) bool {
	t.Helper()
	if limits.Native(src, "f.hcl", false, hcl.InitialPos) != nil {
		return false
	}
	p := parser{src: src, text: string(src), file: "f.hcl", line: 1}
	body, ok := p.whole()
	if !ok {
		return false
	}
	file, diags := hclsyntax.ParseConfig(src, "f.hcl", hcl.InitialPos)
	limits.Metered(file.Body.(*hclsyntax.Body))
	if len(diags) > 0 {
		t.Fatalf("%s\n%.3000q", diags, src)
	}
	if want := file.Body.(*hclsyntax.Body); !reflect.DeepEqual(body, want) {
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
			out = append(out, parts.FindAll(text, -1)...)
		}
	}
	return out
}

// parts are the manifests in scripts and in the documentation.
var parts = regexp.MustCompile(`(?m)^(resource|variable|output|locals|plug|deployster|module|check|moved|removed) (?s:.*?)\n}\n`)

// tokens are put together to what may be read by hand, or nearly.
var tokens = []string{"{", "}", "[", "]", "(", ")", "\"", "\"\"", "${", "%{ if ", "$", "%", "$$", "\\", "\n", "\n", "\r\n", "<<EOT\n", "\nEOT\n", "#", "# c\n", "// c\n", "/*", "*/", "a", "for ", "true", "null", "-", "_", "a.b", "${a}", "${ a.b }", "${true}", "a[0]",
	"a(b)", "a + b", "=", " = ", "==", "=>", ":", "::", ".", "...", ",", "1", "1.5", "1e3", "007", " ", "\t", "é", "\xff", "\ufeff", "\x00", "r = 1\n", "r = [1, a.b,\n]\n", "x = \"a ${b} c\"\n", "b \"c\" {\n", "b c {\n", "}\n", "\n}\n", "m = {\n a = 1, \"b\" : {}\n}\n"}

// TestTheTreeIsThatOfHcl compares the trees of the manifests of all tests, of what
// they become when pieces are put into them or taken out, and of pieces alone.
func TestTheTreeIsThatOfHcl(t *testing.T) {
	all := manifests(t)
	whole := 0
	for _, src := range all {
		if agrees(t, src) {
			whole++
		}
	}
	if whole < len(all)/3 {
		t.Errorf("only %d of %d are read by hand or in pieces", whole, len(all))
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
	t.Logf("%d of %d are read by hand or in pieces, and %d changed ones", whole, len(all), changed)
	if changed == 0 {
		t.Error("nothing that was changed is")
	}
}

// What most manifests are made of is read by hand: not even one piece is hcl's.
func TestWhatIsUsual(t *testing.T) {
	const usual = `# A comment.
variable "zone" {
  default = "eu"
}

resource "r1" {
  type = "bench/disk:1" // another
  config = {
    name  = "disk-${var.zone}-1", size = 1.5
    "tags" = ["a", resource.r0.state.name, true, null, {}]
    zone: var.zone
  }
  timeouts {
    state = "10s"
  }
  empty {}
}
`
	if !agrees(t, []byte(usual)) {
		t.Error("it is not read")
	}
	p := parser{src: []byte(usual), text: usual, file: "f.hcl", line: 1}
	body := newBody()
	for p.blank(); p.at < len(p.src); p.blank() {
		if !p.item(body) {
			t.Fatalf("line %d is not read by hand", p.line)
		}
	}
	if mistake, diags := Parse([]byte(strings.Replace(usual, "1.5", "1.5.1.", 1)), "f.hcl"); !diags.HasErrors() || mistake == nil {
		t.Error("a mistake is not found")
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range tokens {
		f.Add([]byte("resource \"r\" {\n  x = " + text + "\n}\n"))
	}
	f.Fuzz(func(t *testing.T, src []byte) { agrees(t, src) })
}
