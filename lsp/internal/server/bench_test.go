package server

import (
	"fmt"
	"strings"
	"testing"

	"deployster/lsp/internal/wire"
)

// files is over how many files the resources are spread: one may not have more than 400,000 words and signs.
const files = 4

// large returns manifests with many resources, each of which refers to the one before.
func large(n int) map[string]string {
	var texts [files]strings.Builder
	for i := range n {
		fmt.Fprintf(&texts[i*files/n], "resource \"r%d\" {\n  type   = type.file\n  config = { path = \"/srv/ä/%d\", after = [%s] }\n}\n\n", i, i,
			map[bool]string{true: fmt.Sprintf("resource.r%d.state.path", i-1)}[i > 0])
	}
	texts[0].WriteString("type \"file\" {\n  image = \"acme/file:1\"\n}\n")
	all := map[string]string{}
	for i := range texts {
		all[fmt.Sprintf("f%d.hcl", i)] = texts[i].String()
	}
	return all
}

func resources() int {
	if testing.Short() {
		return 100
	}
	return 10000
}

// begin opens a large manifest, and waits until it was checked.
func begin(b *testing.B, tail string) (*editor, map[string]any) {
	all := large(resources())
	e := start(b, all)
	at := e.edit("f0.hcl", all["f0.hcl"]+tail)
	e.wait("f0.hcl", func([]wire.Diagnostic) bool { return true })
	return e, at
}

// type1 types a letter at the end of a text.
func (e *editor) type1(i int) {
	lines := strings.Count(e.open["f0.hcl"], "\n")
	e.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": e.uri("f0.hcl"), "version": i + 2},
		"contentChanges": []map[string]any{{"text": "#", "range": wire.Range{Start: wire.Position{Line: lines}, End: wire.Position{Line: lines}}}}})
}

// From a mistake until the editor has it.
func BenchmarkDiagnostics(b *testing.B) {
	e, _ := begin(b, "")
	base := e.open["f0.hcl"]
	b.ResetTimer()
	for i := range b.N {
		e.mu.Lock()
		delete(e.seen, "f0.hcl")
		e.mu.Unlock()
		e.edit("f0.hcl", base+fmt.Sprintf("output \"o%d\" { value = resource.none }\n", i))
		e.waitFor("f0.hcl", `"none"`)
	}
}

// From a letter to what can stand there.
func BenchmarkCompletion(b *testing.B) {
	e, at := begin(b, "output \"o\" {\n  value = resource.r1"+cursor+"\n}\n")
	b.ResetTimer()
	for i := range b.N {
		e.type1(i)
		if got := e.labels(at); got["resource.r11"].Label == "" {
			b.Fatalf("%d are offered", len(got))
		}
	}
}

func BenchmarkHover(b *testing.B) {
	e, at := begin(b, "output \"o\" {\n  value = resource.r"+cursor+"7\n}\n")
	b.ResetTimer()
	for range b.N {
		var out wire.Hover
		if e.call("textDocument/hover", at, &out); out.Contents == nil {
			b.Fatal("nothing")
		}
	}
}

func BenchmarkReferences(b *testing.B) {
	e, at := begin(b, "output \"o\" {\n  value = type.fi"+cursor+"le\n}\n")
	b.ResetTimer()
	for range b.N {
		var out []wire.Location
		if e.call("textDocument/references", at, &out); len(out) != resources()+1 {
			b.Fatal(len(out))
		}
	}
}

func BenchmarkRename(b *testing.B) {
	e, at := begin(b, "output \"o\" {\n  value = resource.r"+cursor+"7\n}\n")
	at["newName"] = "other"
	b.ResetTimer()
	for range b.N {
		var out wire.WorkspaceEdit
		if e.call("textDocument/rename", at, &out); len(out.Changes) != 1 {
			b.Fatal(out)
		}
	}
}
