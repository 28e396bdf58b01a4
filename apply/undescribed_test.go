package apply_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan"
	"deployster/protocol"
)

// The init of a type that no machine can run yet is run on the host that the apply makes. The plan has nothing of its config, and a type that
// needs what the plan would have shown gets nothing.
func TestUndescribed_IsDescribedOnItsHost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ ty, fails, reason string }{
		"it is done":                          {ty: "plain"},
		"its config does not fit":             {ty: "strict", fails: "config", reason: `config lacks "more"`},
		"it has plugs that were not shown":    {ty: "plugged", fails: "config", reason: "the type has plugs. Nothing was done"},
		"it has an identity not compared yet": {ty: "named", fails: "config", reason: "the type has an identity"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, _ := withVM(t)
			e.opts.Reacher = &reacher{machine: "m1"}
			valid := func(protocol.StateInput, []string) (string, int) { return `{"status":"VALID","state":{}}`, 0 }
			e.fake.Add("test/plain:1", (&scripted{answer: valid}).program)
			e.fake.Add("test/named:1", (&scripted{init: `"identity":["/id"],`, answer: valid}).program)
			e.fake.Add("test/strict:1", (&scripted{init: `"config_schema":{"type":"object","required":["more"]},`, answer: valid}).program)
			ran := ""
			e.initOn = func(_ context.Context, target typeclient.Target) (*runner.Host, error) {
				switch h := target.Settings.Host; {
				case h == nil:
					return nil, nil
				case h.Address == "":
					return nil, &typeclient.NowhereError{Reference: target.Reference}
				default:
					ran = h.Address
					return h, nil
				}
			}
			source := strings.Replace(onVM(e, "resource.vm.state.ip", "s", c.ty), `id = "x"`, `id = "secret"`, 1)
			p, err := e.plan(source)
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(p.Resources["x"])
			if x := p.Resources["x"]; err != nil || x.Change() != plan.Deferred || !x.Undescribed() || strings.Contains(string(text), "secret") ||
				!strings.Contains(string(text), "type_unknown") {
				t.Fatalf("planned %s, %v", text, err)
			}
			if _, pinned := p.Images["docker.io/test/"+c.ty+":1"]; !pinned {
				t.Errorf("its image is not pinned: %v", p.Images)
			}
			report, err := e.apply(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			if x := report.Resources["x"]; x.Failed != c.fails || !strings.Contains(x.Reason, c.reason) || ran != "10.0.0.1" {
				t.Errorf("%s %s: %s; run on %q", x.Status, x.Failed, x.Reason, ran)
			}
			if entry, recorded := e.recorded(t).Resources["x"]; recorded != (c.fails == "") || recorded && !strings.HasPrefix(entry.Digest, "sha256:") {
				t.Errorf("recorded %v, of %s", recorded, entry.Digest)
			}
		})
	}
}
