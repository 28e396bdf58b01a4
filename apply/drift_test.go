package apply_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/plan/drift"
)

// drift asks for drift, and gives it in short.
func (e *engine) drift(t *testing.T, source string, s plan.Selection) (string, *drift.Report, diag.Diagnostics) {
	t.Helper()
	m, err := e.load(source)
	if err != nil {
		t.Fatal(err)
	}
	r, diags := drift.Find(t.Context(), m, e.recorded(t), e.client(nil), plan.Options{Version: "0.1.0", Workspace: e.dir, Parallelism: 4, Selection: s})
	if r == nil {
		return diags.Err().Error(), nil, diags
	}
	var words []string
	for _, addr := range r.Order() {
		word := addr + ":" + string(r.Resources[addr].Status)
		if r.Resources[addr].Known {
			word += "(known)"
		}
		words = append(words, word)
	}
	return string(r.Status) + " | " + strings.Join(words, " "), r, diags
}

// What drifted is told from what the manifest changed, and nobody is taken to
// have drifted because something else did.
func TestDrift_IsDistinguishedFromAChangedManifest(t *testing.T) {
	all := func(net, db string) string {
		return thing("net", "v", net, "pass", `"hunter22"`) + thing("db", "v", db, "on", "resource.net.state.v") + thing("app", "on", "resource.db.state.v") +
			each("node", "{ for k in [\"a\"] : k => resource.net.state.v }")
	}
	e := newEngine(t.TempDir())
	e.fake.Add("test/broken:1", broken)
	e.do(t, all("1", "1")+thing("old"))
	valid := `app:valid db:valid net:valid node["a"]:valid`
	for name, c := range map[string]struct {
		world  map[string]string
		source string
		only   plan.Selection
		want   string
	}{
		"nothing":                     {nil, all("1", "1") + thing("old"), plan.Selection{}, "valid | " + valid + " old:valid"},
		"changed behind our back":     {map[string]string{"net": `{"v":9}`}, all("1", "1"), plan.Selection{}, `drifted | app:valid db:valid net:drifted node["a"]:valid old:undeclared`},
		"gone":                        {map[string]string{"net": "", "app": ""}, all("1", "1"), plan.Selection{}, `drifted | app:gone db:valid net:gone node["a"]:valid old:undeclared`},
		"the manifest says otherwise": {map[string]string{"net": `{"v":9}`}, all("2", "1"), plan.Selection{}, `valid | app:valid db:valid net:changed node["a"]:valid old:undeclared`},
		"new, and what takes from it": {nil, all("1", "resource.new.state.x") + thing("new"), plan.Selection{}, `valid | app:valid db:changed net:valid new:unrecorded node["a"]:valid old:undeclared`},
		"only some":                   {map[string]string{"net": `{"v":9}`}, all("1", "1"), plan.Selection{Targets: []string{"db", "node"}}, `valid | db:valid node["a"]:valid`},
		"all but some":                {map[string]string{"net": `{"v":9}`}, all("1", "1"), plan.Selection{Excludes: []string{"net", "old"}}, `valid | app:valid db:valid node["a"]:valid`},
		"nothing of that name":        {nil, all("1", "1"), plan.Selection{Targets: []string{"dv"}}, "Did you mean db"},
		"a state that is not there":   {nil, all("1", "resource.net.state.gone"), plan.Selection{}, `valid | app:valid db:changed net:valid node["a"]:valid old:undeclared`},
		"a for_each over states": {map[string]string{"net": `{"v":9}`}, strings.Replace(all("1", "1"), `["a"]`, `(resource.net.state.v == 1 ? ["a"] : ["x"])`, 1),
			plan.Selection{}, `drifted | app:valid db:valid net:drifted node["a"]:valid old:undeclared`},
		"a for_each that cannot be known": {nil, strings.Replace(all("1", "1"), `["a"]`, `resource.new.state.keys`, 1) + thing("new"),
			plan.Selection{}, `valid | app:valid db:valid net:valid new:unrecorded node["a"]:changed old:undeclared`},
		"another image": {nil, strings.Replace(all("1", "1"), "test/thing:1", "test/broken:1", 1), plan.Selection{}, `valid | app:valid db:valid net:changed node["a"]:valid old:undeclared`},
	} {
		t.Run(name, func(t *testing.T) {
			things := e.world.Things()
			for name, config := range c.world {
				e.world.Set(name, config)
			}
			e.world.TakeLog()
			before := encode(e.recorded(t))
			got, r, diags := e.drift(t, c.source, c.only)
			if got != c.want && (r != nil || !strings.Contains(got, c.want)) {
				t.Errorf("found %s\nwant  %s\n%v", got, c.want, diags)
			}
			if done := e.world.TakeLog(); len(done) > 0 || encode(e.recorded(t)) != before {
				t.Errorf("it did %v, or wrote", done)
			}
			for name := range c.world {
				e.world.Set(name, things[name])
			}
		})
	}
}

// Known drift is ignored until it changes.
func TestDriftBaseline_IgnoresKnownDriftUntilItChanges(t *testing.T) {
	source := thing("a", "v", "1") + thing("b", "v", "1") + "variable \"p\" {\n  default   = \"hunter22\"\n  sensitive = true\n}\n" + thing("s", "pass", "var.p")
	e := newEngine(t.TempDir())
	e.do(t, source)
	e.world.Set("a", `{"v":7}`)
	e.world.Set("b", "")
	e.world.Set("s", `{"pass":"swordfish"}`)
	_, r, _ := e.drift(t, source, plan.Selection{})
	content, err := json.Marshal(r.Baseline())
	if err != nil || strings.Contains(string(content), "swordfish") {
		t.Fatalf("%s, %v", content, err)
	}
	if shown, err := json.Marshal(r.Masked()); err != nil || strings.Contains(string(shown), "swordfish") || strings.Contains(string(shown), "hunter22") {
		t.Errorf("a secret is shown: %s, %v", shown, err)
	}
	known, err := drift.ReadBaseline(content)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, config, want string
		over               []string
	}{
		{"", "", "valid | a:drifted(known) b:gone(known) s:drifted(known)", nil},
		{"a", `{"v":8}`, "drifted | a:drifted b:gone(known) s:drifted(known)", nil},
		{"a", `{"v":1}`, "valid | a:valid b:gone(known) s:drifted(known)", []string{"a"}},
		{"b", `{"v":3}`, "drifted | a:valid b:drifted s:drifted(known)", []string{"a"}},
	} {
		if c.name != "" {
			e.world.Set(c.name, c.config)
		}
		_, r, _ := e.drift(t, source, plan.Selection{})
		over := r.Know(known)
		got := string(r.Status) + " |"
		for _, addr := range r.Order() {
			got += " " + addr + ":" + string(r.Resources[addr].Status)
			if r.Resources[addr].Known {
				got += "(known)"
			}
		}
		if got != c.want || !slices.Equal(over, c.over) {
			t.Errorf("found %s, over %v; want %s, %v", got, over, c.want, c.over)
		}
	}
	for _, bad := range []string{``, `{}`, `{"format":2,"resources":{}}`, `{"format":1,"resources":{},"x":1}`, `{"format":1,"format":1,"resources":{}}`} {
		if _, err := drift.ReadBaseline([]byte(bad)); err == nil {
			t.Errorf("read %s", bad)
		}
	}
}

// One that cannot be asked does not hide the drift of others, and is an error.
func TestDrift_ReportsAFailedQueryAndTheOtherResources(t *testing.T) {
	e := newEngine(t.TempDir())
	source := thing("a", "v", "1") + thing("b", "v", "1")
	e.do(t, source)
	e.fake.AddDigest("test/thing:1", e.recorded(t).Resources["a"].Digest, broken)
	got, r, diags := e.drift(t, source, plan.Selection{})
	if got != "failed | a:failed b:failed" || !diags.HasErrors() || r.Resources["a"].Reason == "" {
		t.Errorf("%s, %v", got, diags)
	}
}
