package planfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/rootless"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/claims"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/plan/artifacts"
	"deployster/plan/begins"
	"deployster/plan/change"
	"deployster/plan/order"
	"deployster/plan/reason"
	"deployster/plan/verdict"
	"deployster/protocol"
	"deployster/state"
	"deployster/state/moves"
)

// samplePlan has something in every field.
func samplePlan() *plan.Plan {
	two := 2
	command := protocol.Command{Image: "acme/other", Entrypoint: "/run", Args: []string{"a", "<b>"}}
	p := &plan.Plan{
		Format: plan.Format, Deployster: "0.1.0", Created: time.Unix(1700000000, 0).UTC(), Lineage: "l", Begins: &begins.State{Machine: "m", Path: "/w/deployster.state.json"}, Serial: 3, Workspace: "/w",
		Images: map[string]string{"docker.io/acme/file:1": "sha256:1"}, Pulled: []string{"docker.io/acme/file:1"}, Layers: [][]string{{"conf"}, {"svc"}},
		Edges: []plan.Edge{{From: "conf", To: "svc", Origin: "reference"}},
		Barriers: []order.Barrier{{Name: "barrier:1", Before: []string{"svc"}, OrderOnly: true, Again: []string{"x"}},
			{Name: "known:2", After: []string{"conf"}, Before: []string{"svc"}, Late: []string{"svc"}}},
		Others: map[string]protocol.Type{"x": {Reference: "acme/file:1", Digest: "sha256:1", Protocol: 2, StateAction: command}},
		Resources: map[string]*plan.Step{
			"conf": {Type: "acme/file:1", Certainty: plan.MayChange, Reason: reason.New(reason.ToReplace, "svc").With(reason.New(reason.NoState)), Notes: []*reason.Reason{reason.New(reason.MayStay)},
				Config: json.RawMessage(`{"a":"<&>","n":99999999999999999999.5}`), Sensitive: []string{"/a"}, Aliases: map[string]string{"x": "svc"},
				Init: protocol.Type{Reference: "acme/file:1", Digest: "sha256:1", Protocol: 2, StateAction: command}, Pull: runner.PullAlways,
				Verify:   &runner.Verify{Keys: []byte("-----BEGIN"), KeyName: "cosign.pub", Repository: "docker.io/acme/file"},
				Settings: runner.Settings{Network: runner.NoNetwork, Env: map[string]string{"A": "b"}}, SecretEnv: []string{"A"},
				Mounts: []runner.Mount{{Source: "/s", Target: "/t", Writable: true}}, Timeouts: change.Timeouts{State: state.Duration(time.Minute)},
				Protect: true, OnRemove: "forget", Source: "main.hcl:3", MovedFrom: "old",
				Part: &change.Update{Since: change.Since{Drifted: true}, Adopted: true, Answer: change.Answer{Hidden: []string{"/a"},
					Stale: json.RawMessage(`{"a":"b"}`), Forecast: json.RawMessage(`{"a":1}`), Shutdown: &protocol.Action{Name: "stop"},
					Actions: []protocol.Action{{Name: "write", Description: "Write it", Command: command}},
					Reasons: []protocol.Reason{{Path: "/a", Have: json.RawMessage(`1`), Want: json.RawMessage(`2`), Message: "m"}}}}},
			"svc": {Type: "acme/file:1", Reason: reason.New(reason.Failed, "later"), Config: json.RawMessage(`{"ip":{"$unknown":"resource.conf.state.ip"}}`),
				Unknown: map[string]string{"/ip": "resource.conf.state.ip"}, ReadOnly: true, Part: &change.Deferred{}},
		},
		Outputs: map[string]plan.Output{"o": {Value: json.RawMessage(`"x"`), Sensitive: true, Changed: true, Removed: true}},
		Summary: plan.Summary{Update: 1, Deferred: 1, Move: 1},
		Checks:  []config.CheckResult{{Name: "c", Status: config.CheckFail, Messages: []string{"m"}}},
		Policies: []verdict.Policy{{Name: "tags", Level: config.Advisory, Required: true, Image: "acme/tags:1", Digest: "sha256:9", Timed: true,
			Results: []verdict.Result{{Severity: verdict.Error, Message: "m", Address: "conf", Path: "/config/a"}}}},
		Moves: []moves.Move{{From: "old", To: "conf"}},
		Exclusive: []plan.Exclusive{{Name: "jobs", Type: "acme/job:1", Host: "db", Kind: "job", Within: claims.Within{Directory: "/d", Prefix: "p"}, Declared: 1,
			Purge: []plan.ExclusiveItem{{Identity: "a"}}, Undone: []plan.ExclusiveItem{{Identity: "b"}},
			Kept: []plan.ExclusiveItem{{Identity: "c", Why: reason.New(reason.KeptByName)}}, Held: []*reason.Reason{reason.New(reason.HeldPart)}}},
		Rootless: []rootless.Loss{rootless.NoLimits},
		Operations: map[string]plan.Scheduled{"nightly": {Scheduled: state.Scheduled{Resource: "svc", Run: "backup", Input: json.RawMessage(`{"a":1}`),
			Sensitive: []string{"/a"}, Schedule: "0 2 * * *"}, Changed: true, Removed: true}},
		Remote:    sampleRemote(),
		Selection: plan.Selection{Targets: []string{"svc"}, Excludes: []string{"x"}, Replace: []string{"conf"}, NoRefresh: true, RefreshOnly: true}, LeftOut: []string{"x"}, Unreached: map[string]*reason.Reason{"x": reason.New(reason.DependencyLeft, "y")},
		Later: map[string]plan.Later{"more": {Sort: plan.LaterBlock, Attribute: "for_each", Type: "acme/conf:1", Source: "main.hcl:3",
			Reason: reason.New(reason.UnknownKeys, "for_each", "resource.svc.state.names")}},
		Transfers: []state.Transferred{{Address: "gone", Transfer: state.Transfer{ID: "t"}}},
		Instances: map[string]config.Instances{"node": {Keys: []string{"a/b", "ü"}}, "module.web": {Count: &two}},
		Artifacts: map[string]artifacts.Pin{"site": samplePin()},
		Hosts:     map[string]router.Pin{"db": {Address: "db1", Machine: "m1", Facts: &protocol.HostFacts{Hostname: "db1", Machine: "m1"}}},
		Variables: map[string]json.RawMessage{"v": json.RawMessage(`{"value":1,"type":"number"}`)}, SensitiveVariables: []string{"v"}, VariableOrigins: map[string]string{"v": "vars.auto.hcl:1"},
		Entries: map[string]string{"conf": "sha256:2", "svc": ""},
		Sources: config.Sources{Workspace: "/w", Dir: "/w", Manifests: []config.File{{Path: "main.hcl", Bytes: []byte("resource {}\n")}},
			Modules:   map[string][]config.File{"../web": {{Path: "../web/a.hcl", Bytes: []byte("locals {}\n")}, {Path: "../web/b.hcl", Bytes: []byte{}}}},
			Instances: map[string]config.Instances{"node": {Keys: []string{"a/b", "ü"}}, "module.web": {Count: &two}},
			Artifacts: map[string]config.ArtifactValue{"site": samplePin().Value()},
			Remote:    sampleRemote(),
			Reads:     map[string][]byte{"a.txt": []byte("text")}, Lists: map[string][]string{"d\n*": {"a", "b"}}, Home: "/home/me", Replay: true,
			Hosts: map[string]protocol.HostFacts{"db": {Hostname: "db1", OS: "debian", CPUs: 4, Memory: 8 << 30}}},
	}
	p.ID = plan.Fingerprint(p)
	return p
}

func sampleRemote() map[string]config.RemoteState {
	return map[string]config.RemoteState{"net": {URL: "s3://b/net", Lineage: "l", Serial: 2, Status: "ok", Missing: []string{"b"},
		Outputs: map[string]config.RemoteOutput{"a": {Value: json.RawMessage(`1`), Sensitive: true}}}}
}

func written(t *testing.T, p *plan.Plan) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, p); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func read(file []byte) (*plan.Plan, error) { return Read(bytes.NewReader(file), int64(len(file))) }

// The plan in memory equals the plan in the file, whatever fields it gets: one
// that is left out of the sample, or out of the file, fails here.
func TestPlan_ComesBackAsItWasWritten(t *testing.T) {
	p := samplePlan()
	back, err := read(written(t, p))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(p, back) {
		t.Errorf("wrote %+v\nread  %+v", p, back)
	}
	value := reflect.ValueOf(*p)
	for i := range value.NumField() {
		if value.Field(i).IsZero() && value.Type().Field(i).Name != "Errored" { // such a plan is not written
			t.Errorf("the sample has no %s", value.Type().Field(i).Name)
		}
	}
}

func TestSamePlan_GivesSameBytes(t *testing.T) {
	if !bytes.Equal(written(t, samplePlan()), written(t, samplePlan())) {
		t.Error("the same plan was written in two ways")
	}
}

// Whatever single bit is flipped, and wherever the file is cut off, it is
// refused: there is no byte in it that could be something else.
func TestDamagedPlanFiles_AreRefused(t *testing.T) {
	refusesDamage(t, written(t, samplePlan()), read)
}

// refusesDamage wants every flipped bit and every other length of a file of the
// sample plan refused, and the file itself read.
func refusesDamage(t *testing.T, file []byte, open func([]byte) (*plan.Plan, error)) {
	t.Helper()
	refused := func(what string, damaged []byte) {
		p, err := open(damaged)
		var d *diag.Diagnostic
		if p != nil || !errors.As(err, &d) || d.Detail == "" {
			t.Fatalf("%s: plan %v, error %v", what, p, err)
		}
	}
	for i := range file {
		for bit := range 8 {
			file[i] ^= 1 << bit
			refused("bit flipped", file)
			file[i] ^= 1 << bit
		}
		refused("cut off", file[:i])
	}
	refused("longer", append(bytes.Clone(file), 0))
	if p, err := open(file); err != nil || p.ID != samplePlan().ID {
		t.Errorf("the undamaged file: %v, %v", p, err)
	}
}

func TestPlanFileOfAnotherFormat_IsRefused(t *testing.T) {
	p := samplePlan()
	p.Format = plan.Format + 1
	_, err := read(written(t, p))
	if err == nil || !strings.Contains(err.Error(), "of a newer deployster") || !strings.Contains(err.Error(), "format 3") {
		t.Errorf("got %v", err)
	}
}

// A plan file with a right checksum may still have been made by anybody.
func TestPlanFilesThat_DoNotHangTogetherAreRefused(t *testing.T) {
	for what, spoil := range map[string]func(*plan.Plan){
		"not whole":                         func(p *plan.Plan) { p.Errored = true },
		"no step":                           func(p *plan.Plan) { p.Resources["conf"] = nil },
		"layers":                            func(p *plan.Plan) { p.Layers = [][]string{{"conf", "ghost"}, {"svc"}} },
		"no layers":                         func(p *plan.Plan) { p.Layers = nil },
		"edge":                              func(p *plan.Plan) { p.Edges[0].To = "ghost" },
		"reason of what is left for later":  func(p *plan.Plan) { p.Later["more"].Reason.Code = "ghost" },
		"sort of what is left for later":    func(p *plan.Plan) { p.Later["more"] = plan.Later{Sort: "ghost", Reason: p.Later["more"].Reason} },
		"a resource that is left for later": func(p *plan.Plan) { p.Later["svc"] = p.Later["more"] },
		"reason of what is left out":        func(p *plan.Plan) { p.Unreached["x"].Code = "ghost" },
		"barrier after nothing":             func(p *plan.Plan) { p.Barriers[0].After = []string{"ghost"} },
		"barrier before nothing":            func(p *plan.Plan) { p.Barriers[0].Before = []string{"conf (old)"} },
		"barrier with a name of a resource": func(p *plan.Plan) { p.Barriers[0].Name = "conf" },
		"barrier twice":                     func(p *plan.Plan) { p.Barriers[1].Name = p.Barriers[0].Name },
		"barrier in a circle":               func(p *plan.Plan) { p.Barriers[0].Before = []string{"conf"}; p.Barriers[0].After = []string{"svc"} },
		"late identity of nothing":          func(p *plan.Plan) { p.Barriers[1].Late = []string{"ghost"} },
		"ghost asked again":                 func(p *plan.Plan) { p.Barriers[0].Again = []string{"ghost"} },
		"circle":                            func(p *plan.Plan) { p.Edges = append(p.Edges, plan.Edge{From: "svc", To: "conf"}) },
		"failed":                            func(p *plan.Plan) { p.Resources["svc"].Part = &change.ReadFailed{} },
		"expected change":                   func(p *plan.Plan) { p.Resources["svc"].Part = &change.Deferred{Expected: "explode"} },
		"unknown reason":                    func(p *plan.Plan) { p.Resources["svc"].Reason = reason.New("ghost") },
		"no part":                           func(p *plan.Plan) { p.Resources["svc"].Part = nil },
		"replacement without an end":        func(p *plan.Plan) { p.Resources["svc"].Part = &change.Replace{} },
		"end that does not destroy": func(p *plan.Plan) {
			p.Resources["svc"].Part = &change.Replace{Old: &plan.Step{Part: &change.Forget{}}}
		},
		"environment":     func(p *plan.Plan) { p.Resources["svc"].SecretEnv = []string{"GHOST"} },
		"alias":           func(p *plan.Plan) { p.Resources["svc"].Aliases = map[string]string{"a": "ghost"} },
		"terminal escape": func(p *plan.Plan) { p.Resources["\x1b]52;c;eA==\a"] = &plan.Step{Part: &change.Valid{}} },
	} {
		p := samplePlan()
		spoil(p)
		p.ID = plan.Fingerprint(p)
		if got, err := read(written(t, p)); err == nil {
			t.Errorf("%s: read %+v", what, got)
		}
	}
}

func samplePin() artifacts.Pin {
	p := artifacts.Pin{Key: "0123", Metadata: artifact.Metadata{{Name: "author", Value: "ann"}}, Was: artifact.Version{"ref": "a1"}, Newer: 3,
		Spaces: map[string]config.SpaceVersion{"main": {Version: map[string]string{"ref": "b2"}}}, Pinned: artifacts.InLock, Tree: "sha256:2"}
	p.Name, p.Type, p.Sensitive.Source = "site", "acme/git:1", []string{"/key"}
	p.Recipe = artifact.Recipe{Protocol: artifact.Concourse1, Digest: "sha256:1", Source: json.RawMessage(`{"key":"x"}`),
		Params: json.RawMessage(`{}`), Version: artifact.Version{"ref": "b2"}}
	return p
}
