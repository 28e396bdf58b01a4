package config

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Each of these has killed or held up a program that gave it to HCL's parser.
func TestBombs(t *testing.T) {
	t.Parallel()
	const n = 120_000
	for name, text := range map[string]string{
		"brackets.hcl":       "locals {\n a = " + strings.Repeat("[", n),
		"parentheses.hcl":    "locals {\n a = " + strings.Repeat("(", n),
		"braces.hcl":         "locals {\n a = " + strings.Repeat("{a=", n),
		"bangs.hcl":          "locals {\n a = " + strings.Repeat("!", n) + "true\n}",
		"minuses.hcl":        "locals {\n a = " + strings.Repeat("- ", n) + "1\n}",
		"plus.hcl":           "locals {\n a = 1" + strings.Repeat("+1", n) + "\n}",
		"conditions.hcl":     "locals {\n a = " + strings.Repeat("true?1:", n/4) + "1\n}",
		"indexes.hcl":        "locals {\n a = b" + strings.Repeat("[c]", n/4) + "\n}",
		"index_of.hcl":       "locals {\n a = b" + strings.Repeat(".c[d]", n/8) + "\n}",
		"attributes.hcl":     "locals {\n a = b" + strings.Repeat(".c", n/4) + "\n}",
		"parts.hcl":          "locals {\n a = \"" + strings.Repeat("${b}", n/8) + "\"\n}",
		"elements.hcl":       "locals {\n a = [" + strings.Repeat("b,", n/4) + "]\n}",
		"calls.hcl":          "locals {\n a = " + strings.Repeat("a(", n) + "\n}",
		"templates.hcl":      "locals {\n a = " + strings.Repeat(`"${`, n) + "\n}",
		"directives.hcl":     "locals {\n a = \"" + strings.Repeat(`%{if true}`, n/4) + "\"\n}",
		"blocks.hcl":         strings.Repeat("a {\n", n),
		"heredoc.hcl":        "locals {\n a = <<E\n" + strings.Repeat("${", n) + "\nE\n}",
		"number.hcl":         "locals {\n a = " + strings.Repeat("9", n) + "\n}",
		"splat.hcl":          "locals {\n a = b" + strings.Repeat("[*]", n/4) + "\n}",
		"for.hcl":            "locals {\n a = " + strings.Repeat("[for x in ", n/8) + "\n}",
		"brackets.hcl.json":  `{"locals": {"a": ` + strings.Repeat("[", n),
		"objects.hcl.json":   strings.Repeat(`{"a":`, n/2),
		"templates.hcl.json": `{"locals": {"a": "` + strings.Repeat(`${[`, n) + `"}}`,
		"escaped.hcl.json":   `{"locals": {"a": "$\u007b` + strings.Repeat(`(`, n) + `}"}}`,
		"number.hcl.json":    `{"locals": {"a": 1e100000000}}`,
		"zeros.hcl":          "\x00\xff\xfe",
		"bom.hcl":            "\xef\xbb\xbflocals {\n}}",
	} {
		start := time.Now()
		_, diags := Load(Sources{Workspace: "/w", Dir: "/w", Manifests: []File{{name, []byte(text)}}}, nil, Builtins{})
		if !diags.HasErrors() {
			t.Errorf("%s: no error", name)
		}
		for _, d := range diags {
			if d.Snippet != nil && len(d.Snippet.Code) > 20_000 {
				t.Errorf("%s: a snippet of %d bytes", name, len(d.Snippet.Code))
			}
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: took %s", name, took)
		}
	}
}

// A chain of references costs stack for each link, and must not cost all of it.
func TestLongChains(t *testing.T) {
	t.Parallel()
	src := Sources{Workspace: "/w", Dir: "/w"}
	for f := range 5 {
		var b strings.Builder
		b.WriteString("locals {\n")
		for i := range 2_000 {
			fmt.Fprintf(&b, "  x%d = local.x%d\n", f*2_000+i, f*2_000+i+1)
		}
		b.WriteString("}\n")
		src.Manifests = append(src.Manifests, File{fmt.Sprintf("f%d.hcl", f), []byte(b.String())})
	}
	src.Manifests = append(src.Manifests, File{"z.hcl", []byte("locals {\n  x10000 = 1\n}\n")})
	_, diags := Load(src, nil, Builtins{})
	if len(diags) == 0 || !strings.Contains(diags[0].Detail, "500") {
		t.Error(diags)
	}
}

func many(n int) Sources {
	src := Sources{Workspace: "/w", Dir: "/w"}
	for f := range 100 {
		var b strings.Builder
		for i := range n / 100 {
			fmt.Fprintf(&b, "resource \"r%d_%d\" {\n  type = \"acme/file:1\"\n  config = { name = \"n%d\", size = var.size, from = local.zone%s }\n}\n", f, i, i,
				map[bool]string{true: "", false: fmt.Sprintf(", before = resource.r%d_%d.state.id", f, i-1)}[i%50 == 0])
		}
		src.Manifests = append(src.Manifests, File{fmt.Sprintf("f%d.hcl", f), []byte(b.String())})
	}
	src.Manifests = append(src.Manifests, File{"z.hcl", []byte("variable \"size\" {\n  default = 1\n}\nlocals {\n  zone = \"eu\"\n}\n")})
	return src
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		src := many(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, diags := Load(src, nil, Builtins{}); diags.HasErrors() {
					b.Fatal(diags)
				}
			}
		})
	}
}
