package server

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/creachadair/jrpc2"

	"deployster/lsp/internal/wire"
)

const web = `# Größe 😀
variable "size" {
  type        = number
  description = "How large 😀"
  default     = 3
}

locals {
  zone = "b"
}

type "file" {
  image = "acme/file:1"
}

resource "web" {
  type   = type.file
  config = { path = "/a", size = local.zone }
}

resource "copy" {
  type       = type.file
  depends_on = [resource.web]
  config     = { "ключ" = "😀 ${resource.web.state.path}" }
}

output "path" {
  value = [for r in [1] : resource.web.state.path]
}
`

func TestDiagnostics_AreThoseOfValidate(t *testing.T) {
	t.Parallel()
	e := start(t, map[string]string{"main.hcl": "locals {}\n"})
	e.edit("main.hcl", "resource \"a\" {\n  type = \"x\"\n}\noutput \"ä\" {}\n")
	e.waitFor("main.hcl", "cannot be a name")
	e.edit("main.hcl", "resource \"a\" {\n  type = \"x\"\n}\noutput \"o\" { value = \"😀😀 ${resource.b.state}\" }\n")
	d := e.waitFor("main.hcl", `"b" is not declared`)
	if got := e.part("main.hcl", d.Range); got != "resource.b" && got != "resource.b.state" {
		t.Errorf("%q at %v", got, d.Range)
	}
	if d.Range.Start.Character != len(`output "o" { value = "`)+4+len(" ${") || d.Severity != wire.SeverityError {
		t.Errorf("%+v", d)
	}
	e.edit("main.hcl", "resource \"b\" {\n  type = \"x\"\n}\noutput \"o\" { value = \"😀😀 ${resource.b.state}\" }\n")
	e.wait("main.hcl", none)
}

// Texts that are half written are answered, whatever stands in them.
func TestBroken_IsAnswered(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	runes := []rune(web)
	for i := 0; i <= len(runes); i += 13 {
		src := string(runes[:i]) + cursor + "\n"
		for _, tail := range []string{"", "}", "\"", "${", "[", "\n}}}", string(runes[i:])} {
			at := e.edit("main.hcl", src+tail)
			for _, method := range []string{"completion", "hover", "signatureHelp", "definition", "references", "documentSymbol", "formatting",
				"prepareRename", "documentHighlight"} {
				var out any
				e.call("textDocument/"+method, at, &out)
			}
		}
	}
	e.edit("main.hcl", strings.Repeat("[", 1<<20))
	e.waitFor("main.hcl", "")
	e.edit("main.hcl", "a = \xff\xfe\n\x00")
	e.waitFor("main.hcl", "")
	e.edit("main.hcl", web)
	e.wait("main.hcl", none)
}

func TestComplete_OffersWhatCanStandThere(t *testing.T) {
	t.Parallel()
	e := start(t, map[string]string{"more.hcl": "variable \"other\" {}\nmodule \"m\" {\n  source = \"./m\"\n  size = 1\n}\n",
		"m/main.hcl": "variable \"size\" { description = \"Of all\" }\nvariable \"zone\" {}\noutput \"address\" { value = var.size }\n"})
	for _, c := range []struct {
		name, src string
		want      []string
		not       []string
	}{
		{"blocks", web + "\n" + cursor, []string{"resource", "variable", "check", "removed"}, []string{"lifecycle"}},
		{"a half block", web + "\nreso" + cursor, []string{"resource"}, []string{"variable"}},
		{"attributes", web + "resource \"x\" {\n  " + cursor + "\n}\n", []string{"type", "config", "lifecycle", "for_each"}, []string{"image"}},
		{"attributes that are not there yet", web + "resource \"x\" {\n  type = type.file\n  " + cursor + "\n}\n", []string{"config"}, []string{"type"}},
		{"attributes of inner blocks", web + "resource \"x\" {\n  lifecycle {\n    " + cursor + "\n  }\n}\n",
			[]string{"prevent_destroy", "postcondition"}, []string{"type"}},
		{"words", web + "resource \"x\" {\n  lifecycle {\n    on_remove = " + cursor + "\n  }\n}\n", []string{"forget", "destroy"}, nil},
		{"references", web + "output \"x\" {\n  value = res" + cursor + "\n}\n", []string{"resource.web", "resource.copy"}, []string{"local.zone"}},
		{"references behind a dot", web + "output \"x\" {\n  value = resource." + cursor + "\n}\n", []string{"resource.web"}, []string{"type.file"}},
		{"steps", web + "output \"x\" {\n  value = resource.web." + cursor + "\n}\n", []string{"resource.web.state", "resource.web.config"}, nil},
		{"references of names that are not ASCII", web + "output \"x\" {\n  value = \"😀 ${var." + cursor + "}\"\n}\n",
			[]string{"var.size", "var.other"}, nil},
		{"types", web + "resource \"x\" {\n  type = type." + cursor + "\n}\n", []string{"type.file"}, nil},
		{"functions", web + "output \"x\" {\n  value = base64" + cursor + "\n}\n", []string{"base64encode", "base64sha256"}, []string{"upper"}},
		{"modules", web + "output \"x\" {\n  value = module.m." + cursor + "\n}\n", []string{"module.m.address"}, nil},
		{"inputs of modules", "module \"m\" {\n  source = \"./m\"\n  " + cursor + "\n}\n", []string{"size", "zone", "for_each"}, nil},
		{"lists", web + "resource \"x\" {\n  depends_on = [resource." + cursor + "]\n}\n", []string{"resource.web"}, nil},
		{"instances", web + "resource \"x\" {\n  for_each = {}\n  config = { a = each." + cursor + " }\n}\n", []string{"each.key", "each.value"}, nil},
		{"no instances", web + "resource \"x\" {\n  config = { a = ea" + cursor + " }\n}\n", nil, []string{"each.key"}},
		{"dependencies", web + "resource \"x\" {\n  dependencies = { d = resource.web }\n  config = { a = dep." + cursor + " }\n}\n",
			[]string{"dep.d"}, nil},
		{"an instance", web + "output \"x\" {\n  value = resource.web[\"a\"]." + cursor + "\n}\n", []string{`resource.web["a"].state`}, nil},
		{"types of values", "variable \"x\" {\n  type = " + cursor + "\n}\n", []string{"string", "number"}, nil},
	} {
		got := e.labels(e.edit("main.hcl", c.src))
		for _, want := range c.want {
			if _, ok := got[want]; !ok {
				t.Errorf("%s: %s is not offered: %q", c.name, want, slices.Sorted(maps.Keys(got)))
			}
		}
		for _, not := range c.not {
			if _, ok := got[not]; ok {
				t.Errorf("%s: %s is offered", c.name, not)
			}
		}
	}
	at := e.edit("main.hcl", "output \"x\" {\n  value = \"😀 ${module.m."+cursor+"}\"\n}\n")
	item := e.labels(at)["module.m.address"]
	if got := apply(e.text("main.hcl"), []wire.TextEdit{item.Edit}); got != "output \"x\" {\n  value = \"😀 ${module.m.address}\"\n}\n" {
		t.Errorf("%q", got)
	}
	if !strings.Contains(item.Documentation.Value, "value = var.size") {
		t.Errorf("%+v", item)
	}
	e.edit("main.hcl", web)
	if got := e.labels(e.edit("vars.auto.hcl", cursor+"\n")); got["size"].Kind == 0 || got["other"].Kind == 0 {
		t.Errorf("variables: %v", got)
	}
}

func TestHover_DescribesWhatItIs(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	for _, c := range []struct{ name, mark, want string }{
		{"a block", "‸resource \"web\"", "Something that should exist"},
		{"an attribute", "depends‸_on", "Resources and modules that must be done first"},
		{"a reference", "resource.w‸eb]", "`resource.web`"},
		{"a reference in a text", "😀 ${resource.w‸eb", "`resource.web`"},
		{"a local value", "local.zo‸ne", `zone = "b"`},
	} {
		plain := strings.Replace(c.mark, cursor, "", 1)
		at := e.edit("main.hcl", strings.Replace(web, plain, c.mark, 1))
		var out wire.Hover
		e.call("textDocument/hover", at, &out)
		if out.Contents == nil || !strings.Contains(out.Contents.Value, c.want) {
			t.Errorf("%s: %+v, want %q", c.name, out.Contents, c.want)
		}
	}
	var out wire.Hover
	e.call("textDocument/hover", e.edit("main.hcl", web+"output \"x\" {\n  value = upp"+cursor+"er(var.size)\n}\n"), &out)
	if out.Contents == nil || !strings.Contains(out.Contents.Value, "upper(") {
		t.Errorf("%+v", out)
	}
	e.call("textDocument/hover", e.edit("main.hcl", web+"output \"x\" {\n  value = upper(var.si"+cursor+"ze)\n}\n"), &out)
	if out.Contents == nil || !strings.Contains(out.Contents.Value, "How large 😀") || e.part("main.hcl", *out.Range) != "size" {
		t.Errorf("%+v", out.Contents)
	}
	var sig wire.Signature
	e.call("textDocument/signatureHelp", e.edit("main.hcl", web+"output \"x\" {\n  value = substr(\"ä\", 1, "+cursor+"2)\n}\n"), &sig)
	if len(sig.Signatures) != 1 || sig.Parameter != 2 || len(sig.Signatures[0].Parameters) != 3 {
		t.Errorf("%+v", sig)
	}
}

func TestDefinition_AndReferences(t *testing.T) {
	t.Parallel()
	e := start(t, map[string]string{"more.hcl": "output \"more\" {\n  value = resource.web.state\n}\nmodule \"m\" {\n  source = \"./m\"\n  size = var.size\n}\n" +
		"output \"a\" {\n  value = module.m.address\n}\n",
		"m/main.hcl": "variable \"size\" {}\noutput \"address\" { value = var.size }\nresource \"r\" { type = type.file }\n"})
	for _, c := range []struct{ file, mark, at, name string }{
		{"main.hcl", "resource.w‸eb]", "main.hcl", "web"},
		{"main.hcl", "loc‸al.zone", "main.hcl", "zone"},
		{"main.hcl", "type.fi‸le", "main.hcl", "file"},
		{"more.hcl", "module.m.addr‸ess", "m/main.hcl", "address"},
		{"more.hcl", "modu‸le.m.address", "more.hcl", "m"},
		{"more.hcl", "si‸ze = var", "m/main.hcl", "size"},
		{"more.hcl", "var.‸size", "main.hcl", "size"},
		{"more.hcl", "\"./‸m\"", "m/main.hcl", ""},
		{"m/main.hcl", "type.fi‸le", "main.hcl", "file"},
	} {
		e.edit("main.hcl", web)
		plain := strings.Replace(c.mark, cursor, "", 1)
		var out []wire.Location
		e.call("textDocument/definition", e.edit(c.file, strings.Replace(e.text(c.file), plain, c.mark, 1)), &out)
		if len(out) != 1 || out[0].URI != e.uri(c.at) || e.part(c.at, out[0].Range) != c.name {
			t.Errorf("%s %s: %+v", c.file, c.mark, out)
		}
	}
	for _, c := range []struct {
		mark string
		want []string
	}{
		{"resource \"w‸eb\"", []string{"main.hcl", "main.hcl", "main.hcl", "main.hcl", "more.hcl"}},
		{"variable \"‸size\"", []string{"main.hcl", "more.hcl"}},
		{"type \"fi‸le\"", []string{"main.hcl", "m/main.hcl", "main.hcl", "main.hcl"}},
	} {
		at := e.edit("main.hcl", strings.Replace(web, strings.Replace(c.mark, cursor, "", 1), c.mark, 1))
		at["context"] = map[string]any{"includeDeclaration": true}
		var out []wire.Location
		e.call("textDocument/references", at, &out)
		var files []string
		for _, l := range out {
			files = append(files, strings.TrimPrefix(wire.Path(l.URI), e.dir+"/"))
		}
		slices.Sort(files)
		if slices.Sort(c.want); !slices.Equal(files, c.want) {
			t.Errorf("%s: %q, want %q", c.mark, files, c.want)
		}
	}
}

// After a rename the manifests are valid, and refer to the same thing.
func TestRename_WritesMoved(t *testing.T) {
	t.Parallel()
	e := start(t, map[string]string{"more.hcl": "output \"more\" {\n  value = resource.web.state\n}\nmoved {\n  from = resource.old\n  to   = resource.web\n}\n"})
	at := e.edit("main.hcl", strings.Replace(web, "resource \"web\"", "resource \"w‸eb\"", 1))
	at["newName"] = "site"
	rename := func() map[string]string {
		var out wire.WorkspaceEdit
		e.call("textDocument/rename", at, &out)
		return e.applied(out)
	}
	got := rename()
	if want := strings.NewReplacer(`"web"`, `"site"`, "resource.web", "resource.site").Replace(web) +
		"\nmoved {\n  from = resource.web\n  to   = resource.site\n}\n"; got["main.hcl"] != want {
		t.Errorf("%s", got["main.hcl"])
	}
	if want := "output \"more\" {\n  value = resource.site.state\n}\nmoved {\n  from = resource.old\n  to   = resource.web\n}\n"; got["more.hcl"] != want {
		t.Errorf("%s", got["more.hcl"])
	}
	e.edit("more.hcl", got["more.hcl"])
	e.edit("main.hcl", got["main.hcl"])
	e.wait("main.hcl", none)

	// Back: the block that says the reverse goes.
	at["newName"] = "web"
	got = rename()
	if got["main.hcl"] != web {
		t.Errorf("%s", got["main.hcl"])
	}
	for name, want := range map[string]string{"copy": "already declared", "a b": "cannot be a name", "": "cannot be a name"} {
		at["newName"] = name
		var out any
		if err := e.try("textDocument/rename", at, &out); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A variable of a module is renamed where it is set too, and has no address to move.
func TestRename_OfOtherSymbols(t *testing.T) {
	t.Parallel()
	e := start(t, map[string]string{"main.hcl": "module \"m\" {\n  source = \"./m\"\n  size = 1\n}\noutput \"o\" { value = module.m.address }\n",
		"m/main.hcl": "variable \"size\" {}\noutput \"address\" { value = \"${var.size}\" }\n", "vars.auto.hcl": "zone = 1\n",
		"zone.hcl": "variable \"zone\" {}\n"})
	for _, c := range []struct {
		file, mark string
		want       map[string]string
	}{
		{"m/main.hcl", "variable \"s‸ize\"", map[string]string{
			"m/main.hcl": "variable \"new\" {}\noutput \"address\" { value = \"${var.new}\" }\n",
			"main.hcl":   "module \"m\" {\n  source = \"./m\"\n  new = 1\n}\noutput \"o\" { value = module.m.address }\n"}},
		{"main.hcl", "module.m.add‸ress", map[string]string{
			"m/main.hcl": "variable \"size\" {}\noutput \"new\" { value = \"${var.size}\" }\n",
			"main.hcl":   "module \"m\" {\n  source = \"./m\"\n  size = 1\n}\noutput \"o\" { value = module.m.new }\n"}},
		{"main.hcl", "module.‸m.address", map[string]string{
			"main.hcl": "module \"new\" {\n  source = \"./m\"\n  size = 1\n}\noutput \"o\" { value = module.new.address }\n" +
				"\nmoved {\n  from = module.m\n  to   = module.new\n}\n"}},
		{"zone.hcl", "\"z‸one\"", map[string]string{"zone.hcl": "variable \"new\" {}\n", "vars.auto.hcl": "new = 1\n"}},
	} {
		at := e.edit(c.file, strings.Replace(e.text(c.file), strings.Replace(c.mark, cursor, "", 1), c.mark, 1))
		at["newName"] = "new"
		var out wire.WorkspaceEdit
		e.call("textDocument/rename", at, &out)
		if got := e.applied(out); !maps.Equal(got, c.want) {
			t.Errorf("%s: %q", c.mark, got)
		}
	}
}

func TestActions_MendMisspelledNames(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	for _, c := range []struct{ wrong, right, problem string }{
		{"resource \"web\" {\n  tpye = \"x\"\n}\n", "resource \"web\" {\n  type = \"x\"\n}\n", "tpye"},
		{"resourse \"web\" {\n  type = \"x\"\n}\n", "resource \"web\" {\n  type = \"x\"\n}\n", "resourse"},
		{"resource \"web\" {\n  type = \"x\"\n}\noutput \"😀 o\" { value = 1 }\noutput \"b\" { value = \"😀 ${resource.wbe.state}\" }\n", "", "wbe"},
		{"output \"b\" { value = uper(\"x\") }\n", "output \"b\" { value = upper(\"x\") }\n", "uper"},
		{"resource \"web\" {\n  type = \"x\"\n}\noutput \"b\" { value = web.state.path }\n",
			"resource \"web\" {\n  type = \"x\"\n}\noutput \"b\" { value = resource.web.state.path }\n", "web"},
	} {
		if c.right == "" {
			c.right = strings.Replace(c.wrong, "wbe", "web", 1)
			c.wrong, c.right = strings.Replace(c.wrong, "😀 o", "o", 1), strings.Replace(c.right, "😀 o", "o", 1)
		}
		e.edit("main.hcl", c.wrong)
		var d wire.Diagnostic
		for _, d = range e.wait("main.hcl", func(list []wire.Diagnostic) bool {
			return slices.ContainsFunc(list, func(d wire.Diagnostic) bool {
				return strings.Contains(d.Message, c.problem) && strings.Contains(d.Message, "Did you mean")
			})
		}) {
			if strings.Contains(d.Message, "Did you mean") {
				break
			}
		}
		var out []wire.CodeAction
		e.call("textDocument/codeAction", map[string]any{"textDocument": map[string]any{"uri": e.uri("main.hcl")}, "range": d.Range,
			"context": map[string]any{"diagnostics": []any{d}}}, &out)
		if len(out) != 1 {
			t.Errorf("%s: %+v for %+v", c.problem, out, d)
			continue
		}
		if got := e.applied(out[0].Edit)["main.hcl"]; got != c.right {
			t.Errorf("%s: %s", c.problem, got)
		}
		if e.call("textDocument/codeAction", map[string]any{"textDocument": map[string]any{"uri": e.uri("main.hcl")}, "range": d.Range,
			"context": map[string]any{"only": []string{"source.organizeImports"}}}, &out); len(out) != 0 {
			t.Errorf("%+v", out)
		}
		e.edit("main.hcl", c.right)
		e.wait("main.hcl", none)
	}
}

func TestFormat_AsFmt(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	const src = "# 😀\nresource   \"web\" {\ntype=\"x\"\n  config = {a=1}\n}\n# end\n"
	var out []wire.TextEdit
	e.call("textDocument/formatting", e.edit("main.hcl", src), &out)
	want := "# 😀\nresource \"web\" {\n  type   = \"x\"\n  config = { a = 1 }\n}\n# end\n"
	if got := apply(src, out); got != want || len(out) != 1 || out[0].Range.Start.Line != 1 || out[0].Range.End.Line != 4 {
		t.Errorf("%q by %+v", got, out)
	}
	for _, c := range []string{want, "resource \"web\" {", ""} {
		if e.call("textDocument/formatting", e.edit("main.hcl", c), &out); len(out) != 0 {
			t.Errorf("%q: %+v", c, out)
		}
	}
}

func TestSymbols_OfFilesAndFolders(t *testing.T) {
	t.Parallel()
	e := start(t, map[string]string{"b/main.hcl": "resource \"webcam\" { type = \"x\" }\n"})
	var symbols []wire.Symbol
	e.call("textDocument/documentSymbol", e.edit("main.hcl", web), &symbols)
	var names []string
	for _, s := range symbols {
		names = append(names, s.Name)
	}
	if want := []string{`variable "size"`, "locals", `type "file"`, `resource "web"`, `resource "copy"`, `output "path"`}; !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
	if len(symbols[0].Children) != 3 || symbols[0].Children[1].Name != "description" {
		t.Errorf("%+v", symbols[0].Children)
	}
	var found []wire.FoundSymbol
	e.call("workspace/symbol", map[string]string{"query": "WEB"}, &found)
	if len(found) != 2 || found[0].Name == found[1].Name {
		t.Errorf("%+v", found)
	}
}

func TestErrors_AreOfTheProtocol(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	code := func(method string, in any) jrpc2.Code {
		var out any
		return jrpc2.ErrorCode(e.try(method, in, &out))
	}
	if got := code("textDocument/frobnicate", nil); got != jrpc2.MethodNotFound {
		t.Error(got)
	}
	at := map[string]any{"textDocument": map[string]any{"uri": "untitled:x"}, "position": map[string]any{"line": 0, "character": 0}}
	if got := code("textDocument/hover", at); got != jrpc2.InvalidParams {
		t.Error(got)
	}
	if got := code("textDocument/hover", []int{1}); got != jrpc2.InvalidParams {
		t.Error(got)
	}
	e.notify("$/somethingNew", nil)
	e.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": "untitled:x", "text": "a"}})
	e.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": e.uri("no.hcl")}, "contentChanges": []any{}})
	if got := code("shutdown", nil); got != jrpc2.NoError {
		t.Error(got)
	}
	if got := code("textDocument/hover", at); got != jrpc2.InvalidRequest {
		t.Error(got)
	}
	e.notify("exit", nil)
	if err := <-e.done; err != nil {
		t.Error(err)
	}
}

func TestErrors_BeforeInitialize(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]jrpc2.Code{"textDocument/hover": codeNotInitialized, "shutdown": jrpc2.NoError} {
		a := assigner{s: &Server{}}
		_, err := a.Assign(t.Context(), method)(t.Context(), &jrpc2.Request{})
		if got := jrpc2.ErrorCode(err); got != want {
			t.Errorf("%s: %v, want %v", method, err, want)
		}
	}
}

func TestGuarded_LivesOn(t *testing.T) {
	t.Parallel()
	_, err := guarded(func(context.Context, struct{}) (any, error) { panic("a fault of this test") })(t.Context(), &jrpc2.Request{})
	if jrpc2.ErrorCode(err) != jrpc2.InternalError || !strings.Contains(err.Error(), "a fault of this test") {
		t.Error(err)
	}
}

func TestGuarded_ReportsWhatTheClientEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := guarded(func(context.Context, struct{}) (any, error) {
		cancel()
		return 1, nil
	})(ctx, &jrpc2.Request{})
	if jrpc2.ErrorCode(err) != codeCancelled {
		t.Error(err)
	}
}
