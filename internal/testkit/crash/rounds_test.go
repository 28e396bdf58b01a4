//go:build linux && amd64

package crash_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"deployster/apply"
	"deployster/internal/app"
	"deployster/internal/app/approval"
	"deployster/internal/app/workspace"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/internal/testkit/crash"
	"deployster/protocol"
	"deployster/state"
)

// subjectRounds makes the subject one whose apply has two rounds: apply, plan or saved.
const subjectRounds = "DEPLOYSTER_CRASH_ROUNDS"

// roundsManifest has a block whose keys follow from what the first round makes, and a resource that waits for it.
const roundsManifest = `
resource "list" {
  type   = "test/kept:1"
  config = { names = ["x", "y"] }
}
resource "node" {
  for_each = toset(resource.list.state.names)
  type     = "test/kept:1"
  config   = { name = each.key }
}
resource "last" {
  type   = "test/kept:1"
  config = { of = [for n in resource.node : n.state.name] }
}
output "all" { value = [for n in resource.node : n.state.name] }
`

// kept is a type whose objects are the lines of a log.
func kept(log string) runnertest.Program {
	w := &world{path: log}
	return func(_ context.Context, s runner.Spec, stdin io.Reader, stdout, _ io.Writer) int {
		if len(s.Args) == 0 {
			_, _ = io.WriteString(stdout, `{"protocol":2,"absent":true,"state_action":{"args":["state"]}}`)
			return 0
		}
		var in protocol.ActionInput
		if json.NewDecoder(stdin).Decode(&in) != nil {
			return 90
		}
		list, err := effects(log)
		exists := slices.ContainsFunc(list, func(e effect) bool { return e.Name == in.Name })
		switch {
		case err != nil:
			return 91
		case s.Args[0] != "state":
			if w.append(effect{Key: in.IdempotencyKey, Action: s.Args[0], Name: in.Name, Config: in.Config}) != nil {
				return 92
			}
		case exists:
			_, _ = fmt.Fprintf(stdout, `{"status":"VALID","state":%s}`, in.Config)
		default:
			_, _ = io.WriteString(stdout, `{"status":"STALE","actions":[{"name":"make","args":["make"]}]}`)
		}
		return 0
	}
}

// appliesInRounds is the subject: the whole engine, with its state in dir.
func appliesInRounds(dir, log, what string) error {
	fake := runnertest.NewFake()
	digest := fake.Add("test/kept:1", kept(log))
	fake.AddDigest("test/kept@"+digest, digest, kept(log))
	e := app.New(app.Options{Workspace: workspace.Options{Dir: dir, Version: "0.1.0"},
		Open: func(context.Context) (app.Runtime, error) { return runnertest.Runtime{Fake: fake, Dir: dir}, nil }})
	defer e.Close()
	o, goOn := app.ApplyOptions{Approval: approval.Options{Auto: true}}, "apply"
	switch what {
	case "plan":
		_, err := e.Plan(context.Background(), app.PlanOptions{Out: "plan.bin", Deferred: &goOn})
		return err
	case "saved":
		o = app.ApplyOptions{Inputs: workspace.Inputs{Paths: []string{"plan.bin"}}}
	}
	report, err := e.Apply(context.Background(), o)
	if err == nil && report.Status != apply.OK {
		err = errors.New(string(report.Status))
	}
	return err
}

// rounds runs the subject with a fault.
func (a *arena) rounds(what string, at crash.Point) outcome {
	a.t.Helper()
	p := a.program(nil)
	defer p.Output.Close()
	p.Env = append(p.Env, subjectRounds+"="+what)
	if at.At == 0 {
		at.At = 1 << 30
	}
	return a.trace(p, at)
}

// afterRounds checks the next apply after one that was hit: it continues, nothing is made twice, and nothing is lost.
func (a *arena) afterRounds(what string) (faults []string) {
	a.t.Helper()
	say := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if o := a.rounds(what, crash.Point{}); o.Exit != 0 {
		if what != "saved" { // a saved plan may be stale by then, and says so
			say("the next apply fails: %s", o.output)
		}
		if o = a.rounds("apply", crash.Point{}); o.Exit != 0 {
			say("then an apply fails: %s", o.output)
		}
	}
	list, err := effects(a.log)
	if err != nil {
		a.t.Fatal(err)
	}
	made := map[string]int{}
	for _, e := range list {
		made[e.Name]++
	}
	s, _, err := state.Load(state.File(filepath.Join(a.dir, "deployster.state.json")))
	if err != nil {
		say("torn: %v", err)
	}
	for _, name := range []string{"list", `node["x"]`, `node["y"]`, "last"} {
		if _, recorded := s.Resources[name]; made[name] != 1 || !recorded {
			say("%s was made %d times, and is recorded: %t", name, made[name], recorded)
		}
	}
	if len(list) != 4 || string(s.Outputs["all"].Value) != `["x","y"]` || len(s.Unknown()) > 0 {
		say("%d were made, the output is %s", len(list), s.Outputs["all"].Value)
	}
	return faults
}

// TestRounds_KilledAtEachCall ends an apply of two rounds before calls that touch a file of its directory, also between them.
func TestRounds_KilledAtEachCall(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"apply", "saved"} {
		a := newArena(t, 1)
		if err := os.WriteFile(filepath.Join(a.dir, "main.hcl"), []byte(roundsManifest), 0o600); err != nil {
			t.Fatal(err)
		}
		if o := a.rounds("plan", crash.Point{}); o.Exit != 0 {
			t.Fatal(o.output)
		}
		start := a.save("start")
		points, between := 0, 0
		for at := 1; ; at += sample(9, 1) {
			a.reset(start)
			o := a.rounds(what, crash.Point{At: at})
			if o.Hit == nil {
				break
			}
			points++
			if list, err := effects(a.log); err == nil && len(list) == 1 {
				between++
			}
			for _, f := range a.afterRounds(what) {
				t.Errorf("%s, killed before call %d (%s): %s", what, at, o.Hit, f)
			}
		}
		t.Logf("%s: %d points, %d of them after the first round or at its end", what, points, between)
		if points < 5 || between == 0 {
			t.Errorf("%s: only %d points, %d of them after the first round", what, points, between)
		}
	}
}
