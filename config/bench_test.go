package config

import (
	"fmt"
	"strings"
	"testing"
)

// largeManifest is a manifest of n resources in n/100 files: they use a type, a
// local value, a variable and each other's states, and each file has one block
// of ten instances.
func largeManifest(n int) Sources {
	src := Sources{Workspace: "/w", Dir: "/w"}
	const perFile = 100
	for f := 0; f < n/perFile; f++ {
		var b strings.Builder
		fmt.Fprintf(&b, "locals {\n  zone_%d = \"${var.region}-%d\"\n}\n", f, f)
		if f == 0 {
			b.WriteString("variable \"region\" {\n  default = \"europe-west1\"\n}\ntype \"disk\" {\n  image = \"acme/disk:1\"\n}\n")
		}
		fmt.Fprintf(&b, "resource \"set_%d\" {\n  for_each = toset([for i in range(10) : \"k${i}\"])\n  type     = type.disk\n  config   = { name = \"set-${each.key}\", zone = local.zone_%d }\n}\n", f, f)
		for i := 0; i < perFile-10; i++ {
			before := fmt.Sprintf("resource.set_%d[\"k%d\"].state.id", f, i%10)
			if i > 0 {
				before = fmt.Sprintf("resource.r_%d_%d.state.id", f, i-1)
			}
			fmt.Fprintf(&b, "resource \"r_%d_%d\" {\n  type = type.disk\n  config = {\n    name   = \"disk-%d-%d\"\n    zone   = local.zone_%d\n    size   = %d\n    before = %s\n    labels = { file = \"%d\", region = var.region }\n  }\n}\n",
				f, i, f, i, f, i+1, before, f)
		}
		src.Manifests = append(src.Manifests, File{Path: fmt.Sprintf("f%03d.hcl", f), Bytes: []byte(b.String())})
	}
	return src
}

func benchmarkLoad(b *testing.B, n int) {
	src := largeManifest(n)
	b.ReportAllocs()
	for b.Loop() {
		m, diags := Load(src, nil, Builtins{Version: "0.1.0"})
		if len(diags) > 0 || len(m.Resources()) != n {
			b.Fatalf("%d resources, %v", len(m.Resources()), diags)
		}
	}
}

func BenchmarkLoadFiles(b *testing.B) {
	for _, n := range benchmarkSizes() {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchmarkLoad(b, n) })
	}
}

// benchmarkSizes are the numbers of resources to measure with, or a small one for -short,
// which checks that each benchmark still runs.
func benchmarkSizes() []int {
	if testing.Short() {
		return []int{100}
	}
	return []int{1000, 10000}
}

// BenchmarkForEach10000 is one block of as many instances.
func BenchmarkForEach10000(b *testing.B) {
	const n = 10000
	text := `resource "one" { type = "acme/disk:1" }
resource "many" {
  for_each = { for i in range(10000) : "key-${i}" => { size = i } }
  type     = "acme/disk:1"
  config   = { name = "disk-${each.key}", size = each.value.size, of = resource.one.state.id }
}
resource "user" {
  for_each     = resource.many
  type         = "acme/disk:1"
  dependencies = { disk = resource.many[each.key] }
  config       = { id = each.value.state.id }
}
`
	text = strings.Replace(text, "range(10000)", "concat(range(1000), range(1000, 2000), range(2000, 3000), range(3000, 4000), range(4000, 5000), range(5000, 6000), range(6000, 7000), range(7000, 8000), range(8000, 9000), range(9000, 10000))", 1)
	src := Sources{Workspace: "/w", Dir: "/w", Manifests: []File{{Path: "main.hcl", Bytes: []byte(text)}}}
	b.ReportAllocs()
	for b.Loop() {
		m, diags := Load(src, nil, Builtins{Version: "0.1.0"})
		if len(diags) > 0 || len(m.Resources()) != 2*n+1 {
			b.Fatalf("%d resources, %v", len(m.Resources()), diags)
		}
	}
}
