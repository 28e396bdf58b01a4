package config

import (
	"slices"
	"strings"
	"testing"
)

func TestSensitiveState_Travels(t *testing.T) {
	t.Parallel()
	const state = `{"creds":{"pw":"s3cret","user":"root"},"ip":"10.0.0.1","keys":["open","k-one"],"a/b":"slash","none":null}`
	pointers := []string{"/creds/pw", "/keys/1", "/a~1b", "/none", "/gone/x", "/ip/deep", "/keys/9"}
	for _, c := range []struct {
		locals, expr string
		complete     []string // Resolved.Sensitive with a complete state
		incomplete   []string
	}{
		{"", `resource.a.state.creds.pw`, []string{"/v"}, []string{"/v"}},
		{"", `"db://${dep.d.state.creds.pw}@x"`, []string{"/v"}, []string{"/v"}},
		{"", `resource.a.state.creds`, []string{"/v/pw"}, []string{"/v/pw"}},
		{"", `resource.a.state.creds.user`, nil, nil},
		{"", `resource.a.state.ip`, nil, nil},
		{"", `resource.a.state.keys`, []string{"/v/1"}, []string{"/v/1"}},
		{"", `resource.a.state.keys[0]`, nil, nil},
		{"", `resource.a.state["a/b"]`, []string{"/v"}, []string{"/v"}},
		{"", `resource.a.state.none`, []string{"/v"}, []string{"/v"}},
		{"x = resource.a.state.creds.pw", `upper(local.x)`, []string{"/v"}, []string{"/v"}},
		{"", `{ "${resource.a.state.creds.pw}" = 1 }`, []string{"/v"}, []string{"/v"}},
		{"", `[resource.a.state.creds.pw, resource.a.state.creds.new]`, nil, []string{"/v/0"}},
		{"", `resource.a.state.creds[var.key == "x" ? "pw" : "user"]`, []string{"/v"}, []string{"/v"}},
		{"", `resource.a.state`, []string{"/v/a~1b", "/v/creds/pw", "/v/keys/1", "/v/none"}, []string{"/v"}},
		{"", `issensitive(resource.a.state.creds.pw)`, nil, nil},
		{"", `nonsensitive(resource.a.state.creds.pw)`, nil, nil},
	} {
		m := conf(t, c.locals, c.expr)
		for complete, want := range map[bool][]string{true: c.complete, false: c.incomplete} {
			if complete && strings.Contains(c.expr, ".new") {
				continue // an error there
			}
			r := config(t, m, "b", States{"a": {Known: []byte(state), Complete: complete, Sensitive: pointers}})
			if !slices.Equal(r.Sensitive, want) {
				t.Errorf("%s, complete %t: %q, want %q", c.expr, complete, r.Sensitive, want)
			}
		}
	}
	all := config(t, conf(t, "", `resource.a.state.creds.user`), "b", States{"a": {Known: []byte(state), Complete: true, Sensitive: []string{""}}})
	if !slices.Equal(all.Sensitive, []string{"/v"}) {
		t.Errorf("%q", all.Sensitive)
	}
}

// The config of another resource is made of a sensitive state too.
func TestSensitiveState_BehindAConfig(t *testing.T) {
	t.Parallel()
	m := conf(t, "", `"${resource.a.config.of}!"`)
	r := config(t, m, "b", States{"z": {Known: []byte(`{"id":"s3cret"}`), Sensitive: []string{"/id"}}})
	if !slices.Equal(r.Sensitive, []string{"/v"}) || string(r.Value) != `{"v":"s3cret!"}` {
		t.Errorf("%q %s", r.Sensitive, r.Value)
	}
}

func TestOutputs_OfSensitiveStates(t *testing.T) {
	t.Parallel()
	m := load(t, `
variable "pw" {
  default   = "hunter2"
  sensitive = true
}
resource "a" { type = "x" }
output "dsn" { value = "db://${resource.a.state.pw}@x" }
output "open" { value = resource.a.state.ip }
output "part" { value = { p = resource.a.state.pw, ip = resource.a.state.ip } }
output "shown" { value = nonsensitive(resource.a.state.pw) }
output "mixed" { value = resource.a.state.ip == "x" ? { p = 1 } : { p = sensitive(2) } }
`)
	for _, complete := range []bool{true, false} {
		list, diags := m.Outputs(States{"a": {Known: []byte(`{"ip":"x","pw":"s3cret"}`), Complete: complete, Sensitive: []string{"/pw"}}})
		fatal(t, diags)
		got := map[string]Output{}
		for _, o := range list {
			got[o.Name] = o
		}
		for name, want := range map[string][]string{"dsn": {""}, "part": {"/p"}, "open": nil, "shown": nil} {
			if o := got[name]; o.Sensitive != (want != nil) || !slices.Equal(o.Resolved.Sensitive, want) {
				t.Errorf("%s, complete %t: %t %q, want %q", name, complete, o.Sensitive, o.Resolved.Sensitive, want)
			}
		}
	}
	// What the manifest itself makes sensitive must still say so.
	_, diags := m.Outputs(States{"a": {Known: []byte(`{"ip":"y","pw":"s3cret"}`), Complete: true, Sensitive: []string{"/pw"}}})
	if len(diags) != 1 || diags[0].Summary != "A sensitive value would be printed" || !strings.Contains(diags[0].Detail, `"mixed"`) {
		t.Error(diags)
	}
}

func TestMessages_HideSensitiveStates(t *testing.T) {
	t.Parallel()
	for _, expr := range []string{`resource.a.state.pw + 1`, `parseint(resource.a.state.pw, 10)`, `[1][resource.a.state.pw]`, `file(resource.a.state.pw)`} {
		m := conf(t, "", expr)
		_, diags := m.Config("b", States{"a": {Known: []byte(`{"pw":"s3cret"}`), Complete: true, Sensitive: []string{"/pw"}}})
		if !diags.HasErrors() {
			t.Errorf("%s: no error", expr)
		}
		for _, d := range diags {
			all := d.Error()
			if d.Snippet != nil {
				for _, v := range d.Snippet.Values {
					all += v.Name + v.Text
				}
			}
			if strings.Contains(all, "s3cret") {
				t.Errorf("%s: %s", expr, all)
			}
		}
	}
}
