package config

import (
	"fmt"
	"strings"
	"testing"
)

// A chain of references costs stack for each link, and must not cost all of it.
func TestLongChains_HaveABoundedStack(t *testing.T) {
	t.Parallel()
	src := Sources{Workspace: "/w", Dir: "/w"}
	for f := range 5 {
		var b strings.Builder
		b.WriteString("locals {\n")
		for i := range 2_000 {
			fmt.Fprintf(&b, "  x%d = local.x%d\n", f*2_000+i, f*2_000+i+1)
		}
		b.WriteString("}\n")
		src.Manifests = append(src.Manifests, File{Path: fmt.Sprintf("f%d.hcl", f), Bytes: []byte(b.String())})
	}
	src.Manifests = append(src.Manifests, File{Path: "z.hcl", Bytes: []byte("locals {\n  x10000 = 1\n}\n")})
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
		src.Manifests = append(src.Manifests, File{Path: fmt.Sprintf("f%d.hcl", f), Bytes: []byte(b.String())})
	}
	src.Manifests = append(src.Manifests, File{Path: "z.hcl", Bytes: []byte("variable \"size\" {\n  default = 1\n}\nlocals {\n  zone = \"eu\"\n}\n")})
	return src
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range benchmarkSizes() {
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
