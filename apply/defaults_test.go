package apply_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"deployster/internal/base/jsondoc"
	"deployster/plan"
	"deployster/plan/change"
	"deployster/plan/drift"
	"deployster/protocol"
)

// ported is a type with a default in its schema, whose things are known by nothing but their config.
func ported(init string) (ty *scripted, seen func() string) {
	var mu sync.Mutex
	there, configs := map[string]string{}, map[string]bool{}
	ty = &scripted{init: init + `"config_schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},
		"port":{"type":"integer","default":80},"zone":{"type":["string","null"],"default":"eu"}}},`}
	ty.answer = func(in protocol.StateInput, args []string) (string, int) {
		mu.Lock()
		defer mu.Unlock()
		var id string
		if tree, err := jsondoc.Value(in.Config); err == nil {
			id, _ = jsondoc.At(tree, []string{"id"}).(string)
		}
		configs[string(in.Config)] = true
		found, is := there[id]
		switch {
		case args[0] == "make":
			there[id] = string(in.Config)
			return "", 0
		case args[0] == "end":
			delete(there, id)
			return "", 0
		case in.Intent == protocol.Absent && !is:
			return `{"status":"MISSING"}`, 0
		case in.Intent == protocol.Absent:
			return `{"status":"STALE","staleState":{},"actions":[{"name":"end","args":["end"],"destructive":true}]}`, 0
		case !is:
			return `{"status":"STALE","actions":[{"name":"make","args":["make"]}]}`, 0
		case found != string(in.Config):
			return `{"status":"STALE","staleState":{},"actions":[{"name":"make","args":["make"]}]}`, 0
		}
		return `{"status":"VALID","state":{"n":1}}`, 0
	}
	return ty, func() string {
		mu.Lock()
		defer mu.Unlock()
		list := strings.Join(slices.Sorted(maps.Keys(configs)), " ")
		clear(configs)
		return list
	}
}

func port(name, config string) string {
	return fmt.Sprintf("resource %q {\n  type = \"test/ported:1\"\n  config = {\n    %s\n  }\n}\n", name, config)
}

// A type sees its defaults, and so do the plan, the state file and the removal of the thing.
func TestDefaults_AreSeenByTypes(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	ty, seen := ported("")
	e.fake.Add("test/ported:1", ty.program)
	for _, c := range []struct{ source, want, recorded string }{
		{port("a", `id = "x"`), `{"id":"x","port":80,"zone":"eu"}`, `{"id":"x","port":80,"zone":"eu"}`},
		{port("a", "id = \"x\"\n    zone = null"), `{"id":"x","port":80,"zone":null}`, `{"id":"x","port":80,"zone":null}`},
		{"", `{"id":"x","port":80,"zone":null}`, ``},
	} {
		e.do(t, c.source)
		if got := seen(); got != c.want {
			t.Errorf("the type saw %s, want %s", got, c.want)
		}
		if got := string(e.recorded(t).Resources["a"].Config); got != c.recorded {
			t.Errorf("recorded %s, want %s", got, c.recorded)
		}
	}
}

// An earlier version recorded configs as they were written. Its state has no changes, also where a
// block was renamed and the config alone identifies its thing, and what it made can be destroyed.
func TestDefaults_OfAStateOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	before := port("a", `id = "x"`) + port("b", `id = "y"`)
	for name, c := range map[string]struct{ now, want string }{
		"unchanged": {before, "a valid, b valid"},
		"renamed":   {port("c", `id = "x"`) + port("b", `id = "y"`), "b valid, c valid"},
		"explicit":  {port("a", "id = \"x\"\n    port = 80") + port("b", `id = "y"`), "a valid, b valid"},
		"removed":   {port("b", `id = "y"`), "a destroy, b valid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t.TempDir())
			ty, seen := ported("")
			e.fake.Add("test/ported:1", ty.program)
			e.do(t, before)
			e.earlier(t)
			seen()
			if name == "unchanged" {
				if _, report, diags := e.drift(t, before, plan.Selection{}); len(diags) > 0 || report.Resources["a"].Status != drift.None {
					t.Errorf("drift: %v %+v", diags, report.Resources["a"])
				}
			}
			p, err := e.plan(c.now)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, addr := range slices.Sorted(maps.Keys(p.Resources)) {
				got = append(got, addr+" "+string(p.Resources[addr].Shown()))
				if s, valid := p.Resources[addr].Part.(*change.Valid); valid && len(s.Edited) > 0 {
					t.Errorf("%s is edited", addr)
				}
			}
			if list := strings.Join(got, ", "); list != c.want {
				t.Errorf("planned %s, want %s", list, c.want)
			}
			if configs := seen(); configs != `{"id":"x","port":80,"zone":"eu"} {"id":"y","port":80,"zone":"eu"}` {
				t.Errorf("the type saw %s", configs)
			}
			if report, err := e.apply(t.Context(), p); err != nil || len(report.Problems) > 0 {
				t.Errorf("%v %v", err, summaries(report.Problems))
			}
		})
	}
}

// earlier puts the state file of an earlier version in the place of the present one, which has the same things.
func (e *engine) earlier(t *testing.T) {
	t.Helper()
	old, err := os.ReadFile(filepath.Join("testdata", "defaults-0.1.0.state.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(e.statePath(), old, 0o600); err != nil {
		t.Fatal(err)
	}
}
