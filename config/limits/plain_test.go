package limits

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
)

// agrees: what the look at the bytes lets pass, the look at the tokens does too.
// It reports whether it was let pass.
func agrees(t *testing.T, src []byte) bool {
	t.Helper()
	passed := plain(src)
	if d := thorough(src, "f.hcl", false, hcl.InitialPos); passed && d != nil {
		t.Errorf("%s: %s\n%.2000q", d.Summary, d.Detail, src)
	}
	return passed
}

// manifests are those of all tests.
func manifests(t testing.TB) [][]byte {
	t.Helper()
	var out [][]byte
	for _, pattern := range []string{"../testdata/*/*", "../testdata/fuzz/*/*", "../../testdata/script/*"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("nothing in %s (%v)", pattern, err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err == nil { // else a directory
				out = append(out, text)
			}
		}
	}
	return out
}

// pieces are put together to what is close to the limits.
var pieces = []string{"{", "}", "[", "]", "(", ")", "\"", "${", "%{", "~}", "%{ if ", "%{ endif }", "$", "%", "$$", "%%", "\\", "\n", "\r\n", "\r", "<<EOT\n", "EOT\n", "<<", "#", "//", "/*", "*/",
	"a", "-", "_", " - ", " + ", "==", "=", "=>", "!", "&&", "||", "?", ":", ".", ",", "1", "1e999", "1.", "e5", " ", "é", "\xff", "\u2028", "\ufeff", "r = 1\n", "r = [1, 2]\n", "~", "'", ";", "`", "\x00",
	strings.Repeat("(", 60), strings.Repeat(")", 60), strings.Repeat("+1", 1200), strings.Repeat("\"${", 30), strings.Repeat("}\"", 30), strings.Repeat("[0]", 1100), strings.Repeat("9", 50), "x = \"a ${b} c\"\n", "b \"c\" {\n", "}\n"}

// TestPlainIsNoLessStrict compares both on the manifests of all tests, on what
// they become when pieces of others are put into them, and on pieces alone.
func TestPlainIsNoLessStrict(t *testing.T) {
	all := manifests(t)
	passed := 0
	for _, src := range all {
		if agrees(t, src) {
			passed++
		}
	}
	if passed < len(all)/4 {
		t.Errorf("only %d of %d are told by their bytes", passed, len(all))
	}
	random := rand.New(rand.NewPCG(1, 2))
	piece := func() string { return pieces[random.IntN(len(pieces))] }
	for range 4000 {
		var text string
		if random.IntN(2) == 0 {
			text = string(all[random.IntN(len(all))])
			text = text[:min(len(text), 3000)]
			for range 1 + random.IntN(3) {
				at := random.IntN(len(text) + 1)
				text = text[:at] + strings.Repeat(piece(), 1+random.IntN(4)) + text[at:]
			}
		} else {
			few := []string{piece(), piece(), piece(), piece(), piece()}
			for range 1 + random.IntN(60) {
				text += few[random.IntN(len(few))]
			}
		}
		agrees(t, []byte(text))
		if t.Failed() {
			return
		}
	}
}

// FuzzPlain looks for a manifest that they do not agree on.
func FuzzPlain(f *testing.F) {
	for _, src := range manifests(f) {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) { agrees(t, src) })
}

func TestPlainIsForTheUsual(t *testing.T) {
	for _, text := range []string{
		"", "resource \"a-b_1\" {\n  type = type.disk # a \"quote\"\n  config = { n = \"${each.key}-${upper(\"é\")}\", list = [1, 2.5], p = format(\"%s\", 1 / 2) }\n}\n",
		"a = 1\r\nb = x[\"k\"].state.id\r\n", strings.Repeat("a = 1 + 1\n", 3000),
	} {
		if !agrees(t, []byte(text)) {
			t.Errorf("%.200q is looked at by its tokens", text)
		}
	}
	for name, text := range map[string]string{
		"depth": "a = " + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "\n", "operators": "a = 1" + strings.Repeat("+1", 2100) + "\n",
		"indices": "a = b" + strings.Repeat("[0]", 2100) + "\n", "digits": "a = " + strings.Repeat("1", 65) + "\n", "exponent": "a = 1e401\n",
		"heredoc":        "a = <<E\n# ${" + strings.Repeat("[", 101) + strings.Repeat("]", 101) + "}\nE\n",
		"interpolations": "a = " + strings.Repeat("\"${", 60) + "1" + strings.Repeat("}\"", 60) + "\n", "tokens": strings.Repeat("a=1\n", Tokens/4+1),
	} {
		if d := Native([]byte(text), "f.hcl", false, hcl.InitialPos); d == nil {
			t.Errorf("%s: within the limits", name)
		}
	}
}
