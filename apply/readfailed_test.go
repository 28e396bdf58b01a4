package apply_test

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/plan/planfile"
	"deployster/state"
)

// broken is a type whose state cannot be asked.
func broken(_ context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(s.Args) == 0 {
		_, _ = io.WriteString(stdout, `{"protocol":2,"state_action":{"args":["state"]}}`)
		return 0
	}
	_, _ = io.WriteString(stderr, "no route\n")
	return 1
}

// One that cannot be asked does not keep the others from being shown, and such
// a plan can be neither saved nor applied.
func TestPlanWithAFailedRead_ShowsTheOthers(t *testing.T) {
	e := newEngine(t.TempDir())
	e.fake.Add("test/broken:1", broken)
	bad := func(name, config string) string {
		return "resource \"" + name + "\" {\n  type = \"test/broken:1\"\n  config = {" + config + "}\n}\n"
	}
	e.do(t, thing("old", "v", "1")+thing("guarded", "v", "1")+"resource \"kept\" {\n  type = \"test/thing:1\"\n  config = {}\n  lifecycle {\n    prevent_destroy = true\n  }\n}\n")
	for name, c := range map[string]struct{ source, want string }{
		"others and dependants": {bad("bad", "") + thing("user", "v", "resource.bad.state.x") + thing("deep", "v", "resource.user.state.v") + thing("fine", "v", "1") + thing("guarded", "v", "2"),
			"bad:read_failed deep:deferred fine:create guarded:update kept:read_failed old:destroy user:deferred"},
		"for_each over what failed": {bad("bad", "") + each("node", "{ for k in resource.bad.state.keys : k => 1 }") + thing("fine", "v", "1") + thing("user", "v", "length(resource.node)"),
			"bad:read_failed fine:create guarded:destroy kept:read_failed old:destroy user:deferred"},
		"a config that cannot be": {thing("fine", "v", "1") + thing("wrong", "v", "resource.guarded.state.nothing") + thing("guarded", "v", "1"),
			"fine:create guarded:valid kept:read_failed old:destroy wrong:read_failed"},
	} {
		m, err := e.load(c.source)
		if err != nil {
			t.Fatal(err)
		}
		snapshot, _, err := state.Load(state.File(e.statePath()))
		if err != nil {
			t.Fatal(err)
		}
		p, diags := plan.Build(t.Context(), m, snapshot, e.client(nil), plan.Options{Version: "0.1.0", Workspace: e.dir, Parallelism: 4, Now: time.Unix(1700000000, 0)})
		if !diags.HasErrors() || p == nil || !p.Errored {
			t.Fatalf("%s: %+v, %v", name, p, diags)
		}
		if got := changes(p); got != c.want {
			t.Errorf("%s: planned %s, want %s", name, got, c.want)
		}
		if why := p.Resources["kept"].Reason.Words(); why != "protected resource would be removed" {
			t.Errorf("%s: kept: %q", name, why)
		}
		if u := p.Resources["user"]; u != nil && u.Reason == nil {
			t.Errorf("%s: nobody says why user was not asked", name)
		}
		var file bytes.Buffer
		if err := planfile.Write(&file, p); err == nil {
			if _, err := planfile.Read(bytes.NewReader(file.Bytes()), int64(file.Len())); err == nil {
				t.Errorf("%s: such a plan can be read and applied", name)
			}
		}
	}
	if things := e.world.Things(); things["old"] == "" {
		t.Error("it did something")
	}
}
