package config

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"deployster/config/values"
	"deployster/internal/base/secret"
)

// conf evaluates a config with locals in which resource.a is another resource
// and dep.d is its alias.
func conf(t *testing.T, locals, config string) *Manifest {
	t.Helper()
	return load(t, `
variable "pw" {
  default   = "hunter2"
  sensitive = true
}
variable "creds" {
  default   = { user = "root", keys = ["k-one", 12345] }
  sensitive = true
}
variable "key" { default = "x" }
variable "yes" { default = true }
resource "a" {
  type   = "acme/a"
  config = { size = 3, of = resource.z.state.id, list = [1, resource.z.state.n] }
}
resource "z" { type = "acme/z" }
locals {
`+locals+`
}
resource "b" {
  type         = "acme/b"
  dependencies = { d = resource.a }
  config       = { v = `+config+` }
}
`)
}

func TestUnknownValues_NameWhatMakesThemUnknown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, locals, expr, state string // state of a, incomplete
		value                     string
		unknown                   map[string]string
	}{
		{"attribute", "", `resource.a.state.ip`, ``, `{"$unknown":"resource.a.state.ip"}`, map[string]string{"/v": "resource.a.state.ip"}},
		{"alias", "", `dep.d.state.net[0].ip`, ``, `{"$unknown":"resource.a.state.net[0].ip"}`, nil},
		{"known part", "", `[dep.d.state.ip, resource.a.state.port]`, `{"ip":"1"}`, `["1",{"$unknown":"resource.a.state.port"}]`, map[string]string{"/v/1": "resource.a.state.port"}},
		{"deep missing", "", `resource.a.state.net.ip`, `{"net":{"x":1}}`, `{"$unknown":"resource.a.state.net.ip"}`, nil},
		{"deep known beside missing", "", `[resource.a.state.net.x, resource.a.state.net.ip]`, `{"net":{"x":1}}`, `[1,{"$unknown":"resource.a.state.net.ip"}]`, nil},
		{"null on the way", "", `resource.a.state.net.ip`, `{"net":null}`, `{"$unknown":"resource.a.state.net.ip"}`, nil},
		{"index beyond", "", `resource.a.state.l[3]`, `{"l":[1]}`, `{"$unknown":"resource.a.state.l[3]"}`, nil},
		{"whole state", "", `resource.a.state`, `{"l":[1]}`, `{"$unknown":"resource.a.state"}`, nil},
		{"whole resource", "", `resource.a`, `{"l":[1]}`, `{"config":{"list":[1,{"$unknown":"resource.z.state.n"}],"of":{"$unknown":"resource.z.state.id"},"size":3},"name":"a","state":{"$unknown":"resource.a.state"},"type":"acme/a"}`, nil},
		{"state by computed key", "", `resource.a.state[var.key]`, `{"x":[1]}`, `{"$unknown":"resource.a.state"}`, nil},
		{"part by computed key", "", `resource.a.state.m[var.key]`, `{"m":{"y":1}}`, `{"$unknown":"resource.a.state.m"}`, nil},
		{"splat", "", `resource.a.state.l[*].id`, ``, `{"$unknown":"resource.a.state.l"}`, nil},
		{"splat known", "", `resource.a.state.l[*].id`, `{"l":[{"id":1},{"id":2}]}`, `[1,2]`, map[string]string{}},
		{"template", "", `"x-${resource.a.state.ip}-${resource.a.state.port}"`, `{"port":1}`, `{"$unknown":"resource.a.state.ip"}`, nil},
		{"two in one", "", `"${resource.z.state.q}${resource.a.state.ip}"`, ``, `{"$unknown":"resource.a.state.ip, resource.z.state.q"}`, nil},
		{"local", `x = resource.a.state.ip`, `local.x`, ``, `{"$unknown":"resource.a.state.ip"}`, nil},
		{"local object", `x = { p = resource.a.state.ip, q = 1 }`, `local.x`, ``, `{"p":{"$unknown":"resource.a.state.ip"},"q":1}`, map[string]string{"/v/p": "resource.a.state.ip"}},
		{"part of a local", `x = { p = resource.a.state.ip, q = resource.z.state.ip }`, `upper(local.x.q)`, ``, `{"$unknown":"resource.z.state.ip"}`, nil},
		{"local of a resource", `x = resource.a`, `"${local.x.state.ip}!"`, ``, `{"$unknown":"resource.a.state.ip"}`, nil},
		{"locals in a row", "x = local.y\n y = [local.z]\n z = resource.a.state.ip", `local.x[0]`, ``, `{"$unknown":"resource.a.state.ip"}`, nil},
		{"config of another", "", `resource.a.config.of`, ``, `{"$unknown":"resource.z.state.id"}`, nil},
		{"config list of another", "", `dep.d.config.list`, ``, `[1,{"$unknown":"resource.z.state.n"}]`, map[string]string{"/v/1": "resource.z.state.n"}},
		{"known config of another", "", `dep.d.config.size + 1`, ``, `4`, map[string]string{}},
		{"decided condition", "", `var.yes ? resource.a.state.ip : resource.z.state.ip`, ``, `{"$unknown":"resource.a.state.ip"}`, nil},
		{"condition not decided", "", `resource.a.state.ok ? 1 : 2`, ``, `{"$unknown":"resource.a.state.ok"}`, nil},
		{"call", "", `merge({ k = 1 }, { l = resource.a.state.ip })`, ``, `{"k":1,"l":{"$unknown":"resource.a.state.ip"}}`, map[string]string{"/v/l": "resource.a.state.ip"}},
		{"for", "", `[for x in resource.a.state.l : x.id]`, ``, `{"$unknown":"resource.a.state.l"}`, nil},
		{"for over known", "", `[for k in ["p", "q"] : "${k}${resource.a.state.ip}"]`, ``, `[{"$unknown":"resource.a.state.ip"},{"$unknown":"resource.a.state.ip"}]`, nil},
		{"escaped pointer", "", `{ "a/b~c" = resource.a.state.ip }`, ``, `{"a/b~c":{"$unknown":"resource.a.state.ip"}}`, map[string]string{"/v/a~1b~0c": "resource.a.state.ip"}},
		{"try", "", `try(resource.a.state.ip, "none")`, ``, `{"$unknown":"resource.a.state.ip"}`, nil},
		{"name and type", "", `"${dep.d.name} ${resource.z.type}"`, ``, `"a acme/z"`, map[string]string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := conf(t, c.locals, c.expr)
			var scope States
			if c.state != "" {
				scope = States{"a": {Known: []byte(c.state)}}
			}
			r := config(t, m, "b", scope)
			if got := string(r.Value); got != `{"v":`+c.value+`}` {
				t.Errorf("\n got %s\nwant {\"v\":%s}", got, c.value)
			}
			if c.unknown != nil && !maps.Equal(r.Unknown, c.unknown) {
				t.Errorf("unknown: %v, want %v", r.Unknown, c.unknown)
			}
			if strings.Contains(c.value, values.UnknownKey) == (len(r.Unknown) == 0) {
				t.Errorf("unknown: %v", r.Unknown)
			}
		})
	}
}

func TestCompleteStates_EvaluateToTheirValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ expr, state, want, err string }{
		{`resource.a.state.ip`, `{"ip":"1.2.3.4"}`, `"1.2.3.4"`, ``},
		{`resource.a.state`, `{"b":1.50,"a":null}`, `{"a":null,"b":1.5}`, ``},
		{`resource.a.state.n`, `{"n":12345678901234567890123456789012345678901234567890}`, `12345678901234567890123456789012345678901234567890`, ``},
		{`resource.a.state.n`, `{"n":1e400}`, `1e+400`, ``},
		{`resource.a.state.n`, `{"n":"<&\u00e9>"}`, `"<&é>"`, ``},
		{`try(resource.a.state.zne, "none")`, `{"zone":1}`, `"none"`, ``},
		{`can(resource.a.state.zne)`, `{"zone":1}`, `false`, ``},
		{`lookup(resource.a.state, "zne", "none")`, `{"zone":1}`, `"none"`, ``},
		{`resource.a.state.zne`, `{"zone":1}`, ``, `Did you mean "zone"?`},
		{`dep.d.state.net.zne`, `{"net":{"zone":1}}`, ``, `dep.d.state.net has no attribute "zne"`},
		{`resource.a.state.ip`, `{"ip":1`, ``, `cannot be read`},
	} {
		m := conf(t, "", c.expr)
		r, diags := m.Config("b", States{"a": {Known: []byte(c.state), Complete: true}})
		switch {
		case c.err != "":
			if len(diags) != 1 || !strings.Contains(diags[0].Detail, c.err) || diags[0].Address != "b" || diags[0].Range == nil {
				t.Errorf("%s: %v, want %q", c.expr, diags, c.err)
			}
		case diags.HasErrors() || string(r.Value) != `{"v":`+c.want+`}`:
			t.Errorf("%s: %s %v, want %s", c.expr, r.Value, diags, c.want)
		}
	}
}

func TestSensitiveMarks_Travel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		locals, expr string
		sensitive    []string
	}{
		{"", `var.pw`, []string{"/v"}},
		{"", `{ a = var.pw, b = 1 }`, []string{"/v/a"}},
		{"", `"x${var.pw}"`, []string{"/v"}},
		{"", `[1, upper(var.pw)]`, []string{"/v/1"}},
		{"", `var.creds.user`, []string{"/v"}},
		{"", `[for k in var.creds.keys : k]`, []string{"/v"}},
		{"", `toset([var.pw, "a"])`, []string{"/v"}},
		{"x = { p = base64encode(var.pw) }", `local.x`, []string{"/v/p"}},
		{"", `var.pw == "hunter2" ? 1 : 2`, []string{"/v"}},
		{"", `nonsensitive(var.pw)`, nil},
		{"", `sensitive("x")`, []string{"/v"}},
		{"", `jsonencode({ a = var.pw })`, []string{"/v"}},
		{"", `"${var.pw}${resource.a.state.ip}"`, []string{"/v"}},
		{"", `length(var.creds.keys)`, []string{"/v"}},
		{"", `{ "k/1" = var.pw }`, []string{"/v/k~11"}},
		{"", `issensitive(var.pw)`, nil},
	} {
		m := conf(t, c.locals, c.expr)
		if r := config(t, m, "b", nil); !slices.Equal(r.Sensitive, c.sensitive) {
			t.Errorf("%s: %q, want %q", c.expr, r.Sensitive, c.sensitive)
		}
	}
}

func TestSecrets_IncludeDerivedValues(t *testing.T) {
	t.Parallel()
	m := conf(t, `x = base64encode(var.pw)`, `{ a = "pre-${var.pw}", open = 1 }`)
	if got, want := m.Secrets(), []string{"12345", "aHVudGVyMg==", "hunter2", "k-one", "root"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	r := config(t, m, "b", nil)
	if got, want := secret.Values(r.Value, r.Sensitive), []string{"pre-hunter2"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestMessages_HideSensitiveValues(t *testing.T) {
	t.Parallel()
	for _, expr := range []string{`var.pw + 1`, `parseint(var.pw, 10)`, `jsondecode(var.pw)`, `tonumber(var.pw)`, `var.creds.nope`, `[1][var.pw]`,
		`regex("^x", var.pw)`, `file(var.pw)`, `{ a = 1 }[var.pw]`, `cidrhost(var.pw, 1)`, `base64decode(var.pw)`, `parseint(upper(var.pw), 10)`,
		`[for c in [var.pw] : parseint("x${c}", 10)]`, `[for c in split("n", var.pw) : parseint(c, 10)]`} {
		m := &Manifest{}
		dir := t.TempDir()
		text := "variable \"pw\" {\n  sensitive = true\n}\nvariable \"creds\" {\n  sensitive = true\n  default = { user = \"root\" }\n}\nlocals {\n  x = " + expr + "\n}\n"
		m, diags := Load(sources(dir, text), []VarInput{{Name: "pw", Text: "hunter2"}}, Builtins{})
		if !diags.HasErrors() || m == nil {
			t.Errorf("%s: no error", expr)
		}
		for _, d := range diags {
			all := d.Error()
			for _, v := range d.Snippet.Values {
				all += v.Name + v.Text
			}
			if strings.Contains(strings.ToLower(all), "hu") || strings.Contains(all, "ter2") {
				t.Errorf("%s: %s", expr, all)
			}
		}
	}
}

func TestOutputs_AreEvaluatedAndMarkedSensitive(t *testing.T) {
	t.Parallel()
	m := load(t, `
variable "pw" {
  default   = "hunter2"
  sensitive = true
}
resource "a" { type = "x" }
output "z" {
  value       = resource.a.state.ip
  description = "The address"
}
output "pw" {
  value     = { p = var.pw }
  sensitive = true
}
output "open" {
  value     = 1
  sensitive = true
}
`)
	list, diags := m.Outputs(States{"a": {Known: []byte(`{"ip":"1.2.3.4"}`), Complete: true}})
	fatal(t, diags)
	if len(list) != 3 || list[0].Name != "open" || !slices.Equal(list[0].Resolved.Sensitive, []string{""}) ||
		!slices.Equal(list[1].Resolved.Sensitive, []string{"/p"}) || string(list[2].Value) != `"1.2.3.4"` {
		t.Errorf("%+v", list)
	}
}

func TestLocate_FindsTheLineOfAPointer(t *testing.T) {
	t.Parallel()
	m := load(t, `locals {
  cfg = {
    deep = [1, { x = "here" }]
  }
}
resource "a" {
  type = "x"
  config = {
    size = 1
    list = [
      "p",
      { q = 2 },
    ]
    cfg  = local.cfg
    call = merge({}, {})
  }
}
resource "empty" { type = "x" }
`)
	for pointer, want := range map[string]string{"": "main.hcl:8", "/size": "main.hcl:9", "/list/1/q": "main.hcl:12", "/list/9": "main.hcl:10", "/cfg": "main.hcl:14",
		"/cfg/deep/1/x": "main.hcl:3", "/call/x": "main.hcl:15", "/nothing": "main.hcl:8"} {
		if r := m.Locate("a", pointer, false); r == nil || r.String() != want {
			t.Errorf("%q: %v, want %s", pointer, r, want)
		}
	}
	if r := m.Locate("empty", "/x", false); r == nil || r.String() != "main.hcl:18" {
		t.Error(r)
	}
	if r := m.Locate("nobody", "", false); r != nil {
		t.Error(r)
	}
}
