package apply_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"deployster/apply"
	"deployster/apply/turns"
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
			e.initOn = initOnHosts(&ran)
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

// initOnHosts returns where the init of images is run: here, or on a host that is known. It stores the address of the latest host.
func initOnHosts(ran *string) func(context.Context, typeclient.Target) (*runner.Host, error) {
	return func(_ context.Context, target typeclient.Target) (*runner.Host, error) {
		switch h := target.Settings.Host; {
		case h == nil:
			return nil, nil
		case h.Address == "":
			return nil, &typeclient.NowhereError{Reference: target.Reference}
		default:
			*ran = h.Address
			return h, nil
		}
	}
}

// After the soak of a wave, a type that the plan could not describe gets what it requests, as before.
func TestUndescribed_IsQueriedAfterASoak(t *testing.T) {
	t.Parallel()
	e, _ := withVM(t)
	e.opts.Reacher = &reacher{machine: "m1"}
	e.waves = turns.Waves{Sizes: []turns.Size{{N: 1}}, Soak: time.Millisecond}
	made, queries, lacking := false, 0, 0
	e.fake.Add("test/needy:1", (&scripted{init: `"dependencies":true,`, answer: func(in protocol.StateInput, args []string) (string, int) {
		if args[0] != "state" {
			made = true
			return "", 0
		}
		if queries++; string(in.Dependencies["vm"].State) != `{"ip":"10.0.0.1","n":0}` {
			lacking++
		}
		if made {
			return `{"status":"VALID","state":{}}`, 0
		}
		return `{"status":"STALE","actions":[{"name":"make","args":["make"]}]}`, 0
	}}).program)
	e.initOn = initOnHosts(new(string))
	source := strings.Replace(onVM(e, "resource.vm.state.ip", "s", "needy"), `  host   = host.web
`, "  host   = host.web\n  dependencies = { vm = resource.vm }\n", 1)
	p, err := e.plan(source)
	if err != nil {
		t.Fatal(err)
	}
	report, err := e.apply(t.Context(), p)
	if err != nil || report.Status != apply.OK || len(report.Waves) != 1 {
		t.Fatalf("%s, %v: %+v", encode(report), err, report.Waves)
	}
	if queries != 3 || lacking > 0 {
		t.Errorf("%d of %d queries lacked the dependency", lacking, queries)
	}
}
