package server

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deployster/lsp/internal/wire"
)

// rest are blocks of the root that TestRename_OfOtherSymbols and others have not.
const rest = `secret "key" {
  type = "acme/gpg:1"
}
remote_state "net" {
  url = "s3://acme/net"
}
artifact "site" {
  type   = "acme/git:1"
  source = { key = secret.key.value }
}
artifact "tested" {
  type   = "acme/git:1"
  source = { key = secret.key.value }
  passed = [resource.db]
}
publish "live" {
  artifact = artifact.site
  params   = { id = remote_state.net.outputs.id }
}
resource "db" {
  type   = "acme/db:1"
  config = { rev = artifact.site.version.ref, live = publish.live.version.ref }
}
operation "backup" {
  resource = resource.db
  run      = "backup"
  schedule = "0 3 * * *"
}
notify "chat" {
  type = "deployster/notify"
  on   = ["error"]
}
policy "few" {
  level = "mandatory"
  rule {
    deny    = [for s in plan.resources : s if s.change == "destroy"]
    message = "no"
  }
}
exclusive "all" {
  type = "acme/db:1"
}
check "live" {
  assert {
    condition     = publish.live.space == ""
    error_message = "space"
  }
}
output "id" {
  value  = remote_state.net.outputs.id
  export = true
}
`

// Each of these blocks is a symbol, is found by its references, and is renamed with them.
func TestBlocks_AreSymbolsAndRenamed(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	for _, c := range []struct {
		address    string
		references int
		moved      bool
	}{
		{"secret.key", 2, false}, {"remote_state.net", 2, false}, {"artifact.site", 2, false}, {"artifact.tested", 0, false},
		{"publish.live", 2, true}, {"resource.db", 2, true}, {"operation.backup", 0, false}, {"notify.chat", 0, false}, {"policy.few", 0, false},
		{"exclusive.all", 0, false}, {"check.live", 0, false}, {"output.id", 0, false},
	} {
		kind, name, _ := strings.Cut(c.address, ".")
		at := e.edit("main.hcl", strings.Replace(rest, kind+` "`+name, kind+` "`+name[:1]+cursor+name[1:], 1))
		var found []wire.FoundSymbol
		if e.call("workspace/symbol", map[string]string{"query": c.address}, &found); len(found) != 1 || found[0].Name != c.address {
			t.Errorf("symbols %s: %+v", c.address, found)
		}
		var refs []wire.Location
		if e.call("textDocument/references", at, &refs); len(refs) != c.references {
			t.Errorf("references to %s: %+v", c.address, refs)
		}
		at["newName"] = "new"
		var out wire.WorkspaceEdit
		e.call("textDocument/rename", at, &out)
		want := strings.NewReplacer(kind+` "`+name+`"`, kind+` "new"`).Replace(rest)
		if c.references > 0 {
			want = strings.ReplaceAll(want, c.address, kind+".new")
		}
		if c.moved {
			want += "\nmoved {\n  from = " + c.address + "\n  to   = " + kind + ".new\n}\n"
		}
		if got := e.applied(out); got["main.hcl"] != want {
			t.Errorf("%s: %s", c.address, got["main.hcl"])
		}
	}
	for _, c := range []struct{ at, want string }{
		{"secret.key.", "secret.key.value"}, {"remote_state.net.", "remote_state.net.outputs"}, {"publish.live.", "publish.live.tree"},
		{"artifact.tested.", "artifact.tested.version"},
	} {
		got := e.labels(e.edit("main.hcl", rest+"output \"x\" {\n  value = "+c.at+cursor+"\n}\n"))
		if _, offered := got[c.want]; !offered {
			t.Errorf("%s is not offered: %q", c.want, slices.Sorted(maps.Keys(got)))
		}
	}
	got := e.labels(e.edit("main.hcl", rest+"output \"x\" {\n  value = "+cursor+"\n}\n"))
	for name := range got {
		if strings.HasPrefix(name, "policy.") || strings.HasPrefix(name, "operation.") || strings.HasPrefix(name, "check.") {
			t.Errorf("%s is offered, and no reference names it", name)
		}
	}
}

// A module that init has fetched from git or a registry is known like one of a directory, and its files are not changed.
func TestFetchedModules_AreKnown(t *testing.T) {
	t.Parallel()
	tree, image := strings.Repeat("a", 40), strings.Repeat("b", 40)
	e := start(t, map[string]string{
		".cache/modules/" + tree + "/mod/main.hcl": "variable \"size\" {}\noutput \"address\" { value = var.size }\n",
		".cache/modules/" + image + "/main.hcl":    "variable \"zone\" {}\noutput \"id\" { value = var.zone }\n",
		".deployster.lock.hcl": "module \"git::https://example.com/net.git?ref=v1\" {\n  commit = \"" + tree + "\"\n  tree   = \"" + tree + "\"\n}\n" +
			"module \"oci://registry.example.com/acme/web:1.2\" {\n  digest = \"sha256:" + strings.Repeat("c", 64) + "\"\n  tree   = \"" + image + "\"\n}\n"})
	const src = "module \"net\" {\n  source = \"git::https://example.com/net.git//mod?ref=v1\"\n  size = 1\n}\n" +
		"module \"web\" {\n  source = \"oci://registry.example.com/acme/web:1.2\"\n  zone = 1\n}\noutput \"a\" {\n  value = module.net.address\n}\n"
	for _, c := range []struct{ at, want string }{{"module.net.", "module.net.address"}, {"module.web.", "module.web.id"}} {
		got := e.labels(e.edit("main.hcl", src+"output \"x\" {\n  value = "+c.at+cursor+"\n}\n"))
		if _, offered := got[c.want]; !offered {
			t.Errorf("%s is not offered: %q", c.want, slices.Sorted(maps.Keys(got)))
		}
	}
	got := e.labels(e.edit("main.hcl", strings.Replace(src, "  zone = 1", "  "+cursor, 1)))
	if _, offered := got["zone"]; !offered {
		t.Errorf("the variables of a fetched module: %q", slices.Sorted(maps.Keys(got)))
	}
	kept := ".cache/modules/" + tree + "/mod/main.hcl"
	for _, mark := range []string{"net.addr‸ess", "  si‸ze = 1"} {
		at := e.edit("main.hcl", strings.Replace(src, strings.Replace(mark, cursor, "", 1), mark, 1))
		var out []wire.Location
		if e.call("textDocument/definition", at, &out); len(out) != 1 || out[0].URI != e.uri(kept) {
			t.Errorf("%s: %+v", mark, out)
		}
		at["newName"] = "new"
		var edit wire.WorkspaceEdit
		if err := e.try("textDocument/rename", at, &edit); err == nil || !strings.Contains(err.Error(), "fetched") {
			t.Errorf("%s: what is pinned would be changed: %v, %+v", mark, err, edit)
		}
	}
	// The block itself is of the root.
	at := e.edit("main.hcl", strings.Replace(src, "\"net\"", "\"n"+cursor+"et\"", 1))
	at["newName"] = "new"
	var edit wire.WorkspaceEdit
	e.call("textDocument/rename", at, &edit)
	if got := e.applied(edit); !strings.Contains(got["main.hcl"], "value = module.new.address") || !strings.Contains(got["main.hcl"], "from = module.net") {
		t.Errorf("%+v", got)
	}
	if err := os.Remove(filepath.Join(e.dir, ".deployster.lock.hcl")); err != nil {
		t.Fatal(err)
	}
	if got := e.labels(e.edit("main.hcl", src+"output \"x\" {\n  value = module.net."+cursor+"\n}\n")); len(got) > 0 {
		t.Errorf("a module without a pin is known: %q", slices.Sorted(maps.Keys(got)))
	}
}
