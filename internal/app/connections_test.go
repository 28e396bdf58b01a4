package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"deployster/apply"
	"deployster/internal/app"
	"deployster/internal/app/approval"
	"deployster/internal/app/workspace"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
)

// An apply connects to a host once: what the host records at the end, too, goes over that connection.
func TestApply_ConnectsToAHostOnce(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, "h5")
	n.here.Add("thing", lists(t, n.here.world.Program))
	n.machines["h5"].Add("thing", lists(t, n.machines["h5"].world.Program))
	if err := os.WriteFile(filepath.Join(n.dir, "main.hcl"), []byte(hostsAt("a", "h5")+onHost("a", "x")), 0o600); err != nil {
		t.Fatal(err)
	}
	var dialled atomic.Int32
	e := app.New(app.Options{Workspace: workspace.Options{Dir: n.dir, Home: n.dir, Version: "test"},
		Open: func(context.Context) (app.Runtime, error) { return n.here, nil },
		Dial: func(ctx context.Context, h runner.Host, as remote.Hello) (*remote.Client, error) {
			dialled.Add(1)
			return n.dial(ctx, h, as)
		}})
	report, err := e.Apply(t.Context(), app.ApplyOptions{Approval: approval.Options{Auto: true}})
	e.Close()
	if err != nil || report.Status != apply.OK {
		t.Fatalf("%+v, %v", report, err)
	}
	if d := dialled.Load(); d != 1 {
		t.Errorf("the host was dialled %d times", d)
	}
	if claimed := n.machines["h5"].claimed.Load(); claimed != 1 {
		t.Errorf("the host recorded %d times what the state declares there, and not once, after the apply", claimed)
	}
}

// lists has a type list what exists, so that machines record what states declare of it.
func lists(t *testing.T, program runnertest.Program) runnertest.Program {
	return func(ctx context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
		if len(s.Args) > 0 {
			return program(ctx, s, stdin, stdout, stderr)
		}
		var out bytes.Buffer
		code := program(ctx, s, stdin, &out, stderr)
		var init map[string]any
		if err := json.Unmarshal(out.Bytes(), &init); err != nil {
			t.Error(err)
		}
		init["discover_action"] = map[string]any{"args": []string{"discover"}}
		if err := json.NewEncoder(stdout).Encode(init); err != nil {
			t.Error(err)
		}
		return code
	}
}
