package config

import (
	"fmt"
	"testing"
)

// What a module repeats is still declared, also for a block of the module that calls it.
func TestMovedAndRemoved_OfWhatAModuleRepeats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ block, want string }{
		{`moved {
  from = module.web.resource.disk
  to   = resource.disk
}`, "Moved, and still declared"},
		{`moved {
  from = module.web.resource.disk
  to   = module.web.resource.disk[0]
}`, ""},
		{`removed {
  from = module.web.resource.disk
}`, "Removed, and still declared"},
		{`removed {
  from = module.web.module.deep
}`, "Removed, and still declared"},
		{`removed {
  from = module.web.resource.gone
}`, ""},
		{`moved {
  from = module.web.module.deep
  to   = module.flat
}`, "Moved, and still declared"},
		{`moved {
  from = module.web.module.one
  to   = module.flat
}`, "Moved, and still declared"},
		{`moved {
  from = module.web.module.deep.resource.leaf
  to   = resource.leaf
}`, "Moved, and still declared"},
		{`moved {
  from = module.web.module.deep.resource.leaf
  to   = module.web.module.deep["a"].resource.leaf
}`, ""},
		{`moved {
  from = module.many.resource.disk
  to   = resource.disk
}`, "Moved, and still declared"},
		{`moved {
  from = module.many.resource.disk
  to   = module.many["a"].resource.disk
}`, ""},
		{`moved {
  from = module.many.module.deep
  to   = module.many["a"].module.deep["a"]
}`, ""},
		{`moved {
  from = module.many["gone"].resource.disk
  to   = resource.disk
}`, ""},
		{`moved {
  from = module.many["a"].resource.disk
  to   = resource.disk
}`, "Moved, and still declared"},
		{`removed {
  from = module.many.resource.disk
}`, "Removed, and still declared"},
		{`removed {
  from = module.many.resource.gone
}`, ""},
	} {
		src := inMemory(t, map[string]string{
			"main.hcl": "module \"web\" {\n  source = \"./web\"\n}\n" +
				"module \"many\" {\n  for_each = toset([\"a\"])\n  source = \"./web\"\n}\n" + c.block + "\n",
			"web": `
resource "disk" {
  count = 2
  type  = "acme/file:1"
}
module "deep" {
  for_each = toset(["a"])
  source   = "./deep"
}
module "one" {
  source = "./deep"
}
`,
			"web/deep": "resource \"leaf\" {\n  type = \"acme/file:1\"\n}\n",
		})
		_, diags := Load(src, nil, Builtins{Version: "0.1.0"})
		got := ""
		for _, d := range diags {
			got += d.Summary
		}
		if got != c.want {
			t.Errorf("%s\n%s, want %q", c.block, fmt.Sprint(diags), c.want)
		}
	}
}
