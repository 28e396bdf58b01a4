package plan

import (
	"context"
	"errors"
	"strings"
	"testing"

	"deployster/config"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
	"deployster/state"
)

// pages is a Prober of resources that do not exist yet, and of pages, each of which answers as its name says.
type pages struct{ asked }

func (p *pages) Init(ctx context.Context, t typeclient.Target) (protocol.Type, error) {
	if strings.HasSuffix(t.Address, ".noimage") {
		return protocol.Type{}, errors.New("there is no such image")
	}
	return p.asked.Init(ctx, t)
}

func (p *pages) State(_ context.Context, t typeclient.Target, _ protocol.Type, in protocol.StateInput) (protocol.Answer, error) {
	switch {
	case strings.HasSuffix(t.Address, ".up"):
		return protocol.Answer{Status: protocol.Valid, State: []byte(`{"status":200}`)}, nil
	case strings.HasSuffix(t.Address, ".fails"):
		return protocol.Answer{}, errors.New("connection refused")
	}
	return protocol.Answer{Status: protocol.Missing, Actions: []protocol.Action{{Name: "create"}}}, nil
}

// Whatever becomes of what a check reads, it is the result of that check: the plan has neither an error nor a step of it.
func TestLookups_BelongToChecksAlone(t *testing.T) {
	t.Parallel()
	text := "resource \"site\" {\n  type = \"acme/site\"\n  config = { name = \"site\" }\n}\n"
	for name, config := range map[string]string{"up": "{}", "down": "{}", "fails": "{}", "noimage": "{}", "late": "{ of = resource.site.state.id }"} {
		text += "check \"" + name + "\" {\n  resource \"" + name + "\" {\n    type = \"acme/page\"\n    config = " + config + "\n  }\n" +
			"  assert {\n    condition = resource." + name + ".state.status == 200\n    error_message = \"No.\"\n  }\n}\n"
	}
	m, diags := config.Load(config.Sources{Workspace: "/w", Dir: "/w", Manifests: []config.File{{Path: "main.hcl", Bytes: []byte(text)}}}, nil,
		config.Builtins{Version: "0.1.0", Home: "/"})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	p, diags := Build(t.Context(), m, state.Snapshot{}, &pages{}, Options{Workspace: "/w", Parallelism: 4})
	if diags.HasErrors() || p == nil || len(p.Resources) != 1 || len(p.Edges) != 0 {
		t.Fatalf("%v, %+v", diags, p)
	}
	want := map[string]config.CheckStatus{"up": config.CheckPass, "down": config.CheckFail, "fails": config.CheckFail, "noimage": config.CheckFail,
		"late": config.CheckUnknown}
	says := map[string]string{"down": "MISSING instead of VALID", "fails": "connection refused", "noimage": "there is no such image"}
	for _, c := range p.Checks {
		if c.Status != want[c.Name] || !strings.Contains(strings.Join(c.Messages, " "), says[c.Name]) {
			t.Errorf("%s is %s: %q", c.Name, c.Status, c.Messages)
		}
	}
	if len(p.Checks) != len(want) || len(diags) != 3 {
		t.Errorf("there are %d checks and %d warnings", len(p.Checks), len(diags))
	}
}
