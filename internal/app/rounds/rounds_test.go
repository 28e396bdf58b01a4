package rounds_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"deployster/apply"
	"deployster/internal/app"
	"deployster/internal/app/approval"
	"deployster/internal/app/command"
	"deployster/internal/app/workspace"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/plan"
	"deployster/plan/planfile"
	"deployster/state"
)

// names is a manifest whose nodes are named by a resource, and one resource that waits for them.
const names = `
resource "list" {
  type   = "thing"
  config = { names = ["x", "y"] }
}
resource "node" {
  for_each = toset(resource.list.state.names)
  type     = "thing"
  config   = { name = each.key }
}
resource "last" {
  type   = "thing"
  config = { of = [for n in resource.node : n.state.name] }
}
output "all" { value = [for n in resource.node : n.state.name] }
`

// site is a directory, its manifest and its world.
type site struct {
	t     *testing.T
	dir   string
	world *runnertest.World
	fake  *runnertest.Fake
	ui    *person
}

// person sees plans, and answers questions.
type person struct {
	command.Nobody
	mu      sync.Mutex
	plans   []*plan.Plan
	asked   int
	answers []bool
	most    int    // plans
	tooMany func() // called when more are shown; nil = all may be
}

func (p *person) Plan(shown *plan.Plan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.plans = append(p.plans, shown); p.tooMany != nil && len(p.plans) > p.most {
		p.tooMany()
	}
}

func (p *person) Confirm(context.Context, string, bool) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	return p.asked <= len(p.answers) && p.answers[p.asked-1], nil
}

func (p *person) Question(context.Context, apply.Question) (apply.Answer, error) {
	return apply.Yes, nil
}

func newSite(t *testing.T, manifest string) *site {
	t.Helper()
	s := &site{t, t.TempDir(), runnertest.NewWorld(), runnertest.NewFake(), &person{}}
	s.add("thing", s.world.Program)
	s.write(manifest)
	return s
}

// add adds an image, under its name and under its digest.
func (s *site) add(name string, p runnertest.Program) {
	digest := s.fake.Add(name, p)
	s.fake.AddDigest(name+"@"+digest, digest, p)
}

func (s *site) write(manifest string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, "main.hcl"), []byte(manifest), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// engine returns a new engine, as each command has one.
func (s *site) engine() *app.Engine {
	e := app.New(app.Options{Workspace: workspace.Options{Dir: s.dir, DataDir: s.dir, Version: "test"}, UI: s.ui,
		Open: func(context.Context) (app.Runtime, error) { return runnertest.Runtime{Fake: s.fake}, nil }})
	s.t.Cleanup(e.Close)
	return e
}

var auto = approval.Options{Auto: true}

func (s *site) apply(o app.ApplyOptions) (*apply.Report, error) {
	e := s.engine()
	defer e.Close()
	return e.Apply(s.t.Context(), o)
}

func (s *site) plan(o app.PlanOptions) *plan.Plan {
	s.t.Helper()
	e := s.engine()
	defer e.Close()
	p, err := e.Plan(s.t.Context(), o)
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

func (s *site) state() state.Snapshot {
	s.t.Helper()
	e := s.engine()
	defer e.Close()
	snapshot, err := e.Workspace.ReadState(s.t.Context(), e.Workspace.StatePlaceAround())
	if err != nil {
		s.t.Fatal(err)
	}
	return snapshot
}

// things returns the names of all things, sorted.
func (s *site) things() string {
	return strings.Join(slices.Sorted(maps.Keys(s.world.Things())), " ")
}

const everything = `last list node["x"] node["y"]`

// One apply makes what the plan shows, and what its block turns out to be: in one run, with one report and one entry in the
// state. Afterwards there is nothing to do.
func TestRounds_AreOneApply(t *testing.T) {
	s := newSite(t, names)
	p := s.plan(app.PlanOptions{})
	if got := strings.Join(p.LaterDeclared(), " "); got != "last node" || p.Later["node"].Attribute != "for_each" || p.Summary.Deferred != 2 || !p.HasChanges() ||
		len(p.Outputs["all"].Unknown) == 0 || len(p.LeftOut) > 0 || p.Later["node"].Type != "thing" {
		t.Errorf("it defers %s: %+v", got, p)
	}
	for _, addr := range []string{"node", `node["x"]`, "last"} {
		if _, err := s.engine().Plan(t.Context(), app.PlanOptions{Explain: []string{addr}}); err == nil || !strings.Contains(err.Error(), "Deferred to a later round") {
			t.Errorf("%s is explained: %v", addr, err)
		}
	}
	report, err := s.apply(app.ApplyOptions{Approval: auto})
	if err != nil || report.Status != apply.OK || len(report.Resources) != 4 || s.things() != everything {
		t.Fatalf("%+v, %v; there are %s", report, err, s.things())
	}
	if log := s.world.TakeLog(); log[0] != "make list" || log[3] != "make last" || len(log) != 4 {
		t.Errorf("it ran %q", log)
	}
	if len(s.ui.plans) != 3 || s.ui.plans[2].ID != s.ui.plans[1].ID+".2" || len(s.ui.plans[2].Later) != 0 {
		t.Errorf("%d plans were shown", len(s.ui.plans))
	}
	after := s.state()
	if len(after.Applied) != 1 || after.Applied[0].Plan != s.ui.plans[1].ID || !slices.Equal(after.Applied[0].Rounds, []string{s.ui.plans[2].ID}) {
		t.Errorf("the state has the runs %+v", after.Applied)
	}
	if string(after.Outputs["all"].Value) != `["x","y"]` || len(after.Former) == 0 {
		t.Errorf("the output is %s", after.Outputs["all"].Value)
	}
	if again := s.plan(app.PlanOptions{}); again.HasChanges() || len(again.Later) > 0 {
		t.Errorf("then it plans %+v", again)
	}
}

// Whether an apply continues is what -deferred says, when the plan is saved too: without it such a plan does what it shows.
func TestRounds_ContinueAsDeferredDecides(t *testing.T) {
	word := func(w string) *string { return &w }
	for name, c := range map[string]struct {
		saved   *string // -deferred of a plan that is saved
		save    bool
		digest  bool
		signed  bool
		options approval.Options
		answers []bool
		goes    bool
		reason  string
		refused string
	}{
		"auto":                           {options: auto, goes: true},
		"stop":                           {options: approval.Options{Auto: true, Deferred: word("stop")}, reason: "-deferred=stop"},
		"ask, yes":                       {options: approval.Options{Auto: true, Ask: true, Deferred: word("ask")}, answers: []bool{true}, goes: true},
		"ask, no":                        {options: approval.Options{Auto: true, Ask: true, Deferred: word("ask")}, answers: []bool{false}, reason: "not approved"},
		"ask, nobody":                    {options: approval.Options{Auto: true, Deferred: word("ask")}, refused: "Approval required"},
		"a person, yes and yes":          {options: approval.Options{Ask: true}, answers: []bool{true, true}, goes: true},
		"a person, yes and no":           {options: approval.Options{Ask: true}, answers: []bool{true, false}, reason: "not approved"},
		"a person once, then apply":      {options: approval.Options{Ask: true, Deferred: word("apply")}, answers: []bool{true}, goes: true},
		"kinds":                          {options: approval.Options{Kinds: word("create,update")}, goes: true},
		"too few kinds":                  {options: approval.Options{Kinds: word("create")}, refused: "Approval required"},
		"kinds that do not cover it":     {options: approval.Options{Kinds: word("deferred,create"), Deferred: word("apply")}, goes: true},
		"saved":                          {save: true, reason: "without -deferred=apply"},
		"saved, apply when applied":      {save: true, options: approval.Options{Deferred: word("apply")}, reason: "without -deferred=apply"},
		"saved to continue":              {save: true, saved: word("apply"), goes: true},
		"saved to continue, stopped":     {save: true, saved: word("apply"), options: approval.Options{Deferred: word("stop")}, reason: "-deferred=stop"},
		"saved to continue, digest":      {save: true, saved: word("apply"), digest: true, reason: "a digest or a signature"},
		"saved to continue, digest, too": {save: true, saved: word("apply"), digest: true, options: approval.Options{Deferred: word("apply")}, goes: true},
		"signed":                         {save: true, signed: true, reason: "without -deferred=apply"},
		"signed, apply when applied":     {save: true, signed: true, options: approval.Options{Deferred: word("apply")}, reason: "without -deferred=apply"},
		"signed to continue":             {save: true, signed: true, saved: word("apply"), reason: "a digest or a signature"},
		"signed to continue, too":        {save: true, signed: true, saved: word("apply"), options: approval.Options{Deferred: word("apply")}, goes: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, names)
			s.ui.answers = c.answers
			o, save := app.ApplyOptions{Approval: c.options}, app.PlanOptions{Out: "plan.bin", Deferred: c.saved}
			if c.signed {
				private, public := s.keys()
				save.SignKey, o.Policy.Signature, o.Policy.Deferred = &private, &public, c.options.Deferred
			}
			if c.save {
				p := s.plan(save)
				o.Paths = []string{"plan.bin"}
				if c.digest {
					digest := digestOf(t, p)
					o.Policy.Digest, o.Policy.Deferred = &digest, c.options.Deferred
				}
			}
			report, err := s.apply(o)
			switch {
			case c.refused != "":
				if err == nil || !strings.Contains(err.Error(), c.refused) || s.things() != "" {
					t.Errorf("%v, and there are %s", err, s.things())
				}
			case err != nil:
				t.Error(err)
			case c.goes:
				if report.Status != apply.OK || s.things() != everything {
					t.Errorf("%+v: there are %s", report, s.things())
				}
			case report.Status != apply.Incomplete || s.things() != "list" || report.Resources["node"].Status != apply.NotStarted ||
				!strings.Contains(report.Resources["node"].Reason, c.reason) || report.Resources["last"] == nil:
				t.Errorf("%+v, %+v: there are %s", report, report.Resources["node"], s.things())
			}
		})
	}
}

// What exists of a block whose keys are not known is left, and a round destroys and replaces nothing: the next plan shows that.
func TestRounds_DestroyNothing(t *testing.T) {
	s := newSite(t, names)
	if report, err := s.apply(app.ApplyOptions{Approval: auto}); err != nil || report.Status != apply.OK {
		t.Fatal(report, err)
	}
	s.write(strings.Replace(names, `["x", "y"]`, `["y", "z"]`, 1))
	p := s.plan(app.PlanOptions{})
	if p.Later[`node["x"]`].Sort != plan.LaterEntry || p.Later[`node["y"]`].Sort != plan.LaterEntry || p.Resources[`node["x"]`] != nil || p.Summary.Destroy != 0 {
		t.Errorf("it plans %+v", p)
	}
	s.world.TakeLog()
	report, err := s.apply(app.ApplyOptions{Approval: auto})
	if err != nil || report.Status != apply.Incomplete || report.Resources[`node["x"]`].Status != apply.Left {
		t.Fatalf("%+v, %v", report, err)
	}
	if log := s.world.TakeLog(); !slices.Equal(log, []string{"change list", `make node["z"]`, "change last"}) {
		t.Errorf("it ran %q", log)
	}
	if p = s.plan(app.PlanOptions{}); p.Summary.Destroy != 1 || p.Resources[`node["x"]`].Change() != plan.Destroy || len(p.Later) != 0 {
		t.Errorf("then it plans %+v", p.Summary)
	}
}

// swaps is a type whose objects are replaced when their config changes.
func swaps(w *runnertest.World) runnertest.Program {
	return func(ctx context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
		var out strings.Builder
		code := w.Program(ctx, s, stdin, &out, stderr)
		_, _ = io.WriteString(stdout, strings.Replace(out.String(), `"name":"change"`, `"name":"change","destructive":true`, 1))
		return code
	}
}

// What would be replaced in a round is left, where its plan shows that, and where only its apply finds it.
func TestRounds_ReplaceNothing(t *testing.T) {
	const manifest = names + `
resource "swap" {
  for_each = toset(["one"])
  type     = "swap"
  config   = { count = length(resource.node) }
}
resource "each" {
  for_each = toset(resource.list.state.names)
  type     = "swap"
  config   = { count = length(resource.list.state.names) }
}
resource "late" {
  type   = "swap"
  config = { of = [for k in ["x", "y", "z"] : try(resource.node[k].state.made, "") if can(resource.node[k])] }
}
`
	s := newSite(t, manifest)
	s.add("swap", swaps(s.world))
	if report, err := s.apply(app.ApplyOptions{Approval: auto}); err != nil || report.Status != apply.OK {
		t.Fatal(report, err)
	}
	s.write(strings.Replace(manifest, `["x", "y"]`, `["x", "y", "z"]`, 1))
	s.world.TakeLog()
	report, err := s.apply(app.ApplyOptions{Approval: auto})
	if err != nil || report.Status == apply.OK {
		t.Fatalf("%+v, %v", report, err)
	}
	log := s.world.TakeLog()
	for _, action := range []string{`change swap["one"]`, `change each["x"]`, `change each["y"]`, "change late"} {
		if slices.Contains(log, action) {
			t.Errorf("it ran %s", action)
		}
	}
	if !slices.Contains(log, `make node["z"]`) || !slices.Contains(log, `make each["z"]`) {
		t.Errorf("it ran %q", log)
	}
	if r := report.Resources; r[`each["x"]`].Status != apply.Left {
		t.Errorf("the report has %+v and %+v", r[`each["x"]`], r["late"])
	}
	if p := s.plan(app.PlanOptions{}); p.Resources[`swap["one"]`].Kind() != plan.Replace {
		t.Errorf("then it plans %+v", p.Resources[`swap["one"]`])
	}
}

// Policies judge each round: one that is denied is not begun, and what came before it is recorded.
func TestRounds_AreJudged(t *testing.T) {
	s := newSite(t, names+`
policy "few" {
  level = "mandatory"
  rule {
    deny    = [for a, r in plan.resources : a if r.change == "create" && startswith(a, "node")]
    message = "no node"
  }
}
`)
	report, err := s.apply(app.ApplyOptions{Approval: auto})
	if err != nil || report.Status != apply.Error || s.things() != "list" || report.Resources["node"].Status != apply.NotStarted {
		t.Fatalf("%+v, %v: there are %s", report, err, s.things())
	}
	if text := report.Problems.Error(); !strings.Contains(text, "no node") || strings.Contains(text, "Nothing was changed") {
		t.Errorf("it says %s", text)
	}
	if _, recorded := s.state().Resources["list"]; !recorded || len(report.Policies) != 1 {
		t.Errorf("the state has %v, the report %v", s.state().Resources, report.Policies)
	}
}

// A round begins only if all before it was done, and after an interrupt none does.
func TestRounds_NeedWhatComesBefore(t *testing.T) {
	s := newSite(t, names)
	s.world.Fail("list", true)
	report, err := s.apply(app.ApplyOptions{Approval: auto, KeepGoing: true})
	if err != nil || report.Status != apply.Error || s.things() != "" || !strings.Contains(report.Resources["node"].Reason, "a dependency of it was not applied") {
		t.Errorf("a failure: %+v, %v", report, err)
	}
	s = newSite(t, names)
	ctx, cancel := context.WithCancel(t.Context())
	s.world.Watch(func(name, _ string) {
		if name == "list" {
			cancel()
		}
	})
	report, err = s.engine().Apply(ctx, app.ApplyOptions{Approval: auto})
	if err != nil || report.Status != apply.Interrupted || s.things() != "list" || report.Resources["node"].Status != apply.NotStarted {
		t.Errorf("an interrupt: %+v, %v; there are %s", report, err, s.things())
	}
	s.world.Watch(nil)
	if report, err = s.apply(app.ApplyOptions{Approval: auto}); err != nil || report.Status != apply.OK || s.things() != everything {
		t.Errorf("the next apply: %+v, %v; there are %s", report, err, s.things())
	}
}

// flaps is a type that is valid only right after its action: what is made of it is known never for long.
func flaps(w *runnertest.World) runnertest.Program {
	var mu sync.Mutex
	fresh := map[string]bool{}
	return func(ctx context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
		text, _ := io.ReadAll(stdin)
		var in struct {
			Name string `json:"name"`
		}
		_ = json.Unmarshal(text, &in)
		mu.Lock()
		defer mu.Unlock()
		if len(s.Args) > 0 && s.Args[0] == "state" && !fresh[in.Name] {
			if config, is := w.Things()[in.Name]; is {
				_, _ = io.WriteString(stdout, `{"status":"STALE","staleState":`+config+`,"actions":[{"name":"make","args":["make"]}]}`)
				return 0
			}
		}
		fresh[in.Name] = len(s.Args) > 0 && s.Args[0] != "state"
		return w.Program(ctx, s, strings.NewReader(string(text)), stdout, stderr)
	}
}

// An apply ends when a round would make no keys known: it says what is left, and does nothing more.
func TestRounds_EndWithoutProgress(t *testing.T) {
	s := newSite(t, strings.Replace(names, `type   = "thing"
  config = { names`, `type   = "flap"
  config = { names`, 1))
	s.add("flap", flaps(s.world))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.ui.most, s.ui.tooMany = 2, cancel
	report, err := s.engine().Apply(ctx, app.ApplyOptions{Approval: auto})
	if err != nil || report.Status != apply.Incomplete || s.things() != "list" || !strings.Contains(report.Resources["node"].Reason, "are still unknown") {
		t.Errorf("%+v, %v: there are %s", report, err, s.things())
	}
	if log := s.world.TakeLog(); len(log) != 1 {
		t.Errorf("it ran %q", log)
	}
}

// Keys that no apply makes known are an error, which changes nothing.
func TestRounds_NeverKnownIsAnError(t *testing.T) {
	s := newSite(t, strings.Replace(names, "toset(resource.list.state.names)", `toset([resource.list.state.names[0], uuid()])`, 1))
	report, err := s.apply(app.ApplyOptions{Approval: auto})
	if err != nil || report.Status != apply.Error || !strings.Contains(report.Problems.Error(), "Instances that cannot be known") {
		t.Fatalf("%+v, %v", report, err)
	}
	e := s.engine()
	if _, err := e.Plan(t.Context(), app.PlanOptions{}); err == nil || !strings.Contains(err.Error(), "uuid()") || !strings.Contains(err.Error(), "no apply changes that") {
		t.Errorf("then a plan says %v", err)
	}
	if len(s.state().Resources) != 1 {
		t.Errorf("the state has %v", s.state().Resources)
	}
}

// nested is a module whose instances and whose own block both follow from states.
const nested = `
resource "list" {
  type   = "thing"
  config = { names = ["x"], on = true, n = 2 }
}
module "web" {
  source   = "./web"
  for_each = toset(resource.list.state.names)
  name     = each.key
}
resource "some" {
  count  = resource.list.state.n
  type   = "thing"
  config = { n = count.index }
}
resource "maybe" {
  enabled = resource.list.state.on
  type    = "thing"
  config  = { n = 1 }
}
`

// Each round makes the blocks known that follow from the one before: in modules too, and for count and enabled.
func TestRounds_OfModules(t *testing.T) {
	s := newSite(t, nested)
	if err := os.Mkdir(filepath.Join(s.dir, "web"), 0o700); err != nil {
		t.Fatal(err)
	}
	inner := "variable \"name\" {}\nresource \"inner\" {\n  type = \"thing\"\n  config = { keys = [\"${var.name}1\"] }\n}\n" +
		"resource \"leaf\" {\n  for_each = toset(resource.inner.state.keys)\n  type = \"thing\"\n  config = { k = each.key }\n}\n"
	if err := os.WriteFile(filepath.Join(s.dir, "web", "main.hcl"), []byte(inner), 0o600); err != nil {
		t.Fatal(err)
	}
	report, err := s.apply(app.ApplyOptions{Approval: auto})
	if want := `list maybe module.web["x"].inner module.web["x"].leaf["x1"] some[0] some[1]`; err != nil || report.Status != apply.OK || s.things() != want {
		t.Fatalf("%+v, %v: there are %s", report, err, s.things())
	}
	if got := s.state().Applied[0].Rounds; len(got) != 2 || !strings.HasSuffix(got[1], ".3") {
		t.Errorf("its rounds are %v", got)
	}
	s.world.TakeLog()
	if report, err = s.apply(app.ApplyOptions{Approval: auto, Destroy: true}); err != nil || report.Status != apply.OK || s.things() != "" {
		t.Errorf("destroy: %+v, %v: there are %s", report, err, s.things())
	}
}

// A round runs the images that the plan has pinned, whatever their names mean by then.
func TestRounds_RunThePinnedImages(t *testing.T) {
	s := newSite(t, strings.Replace(names, `type     = "thing"`, `type     = "node"`, 1))
	other := runnertest.NewWorld()
	s.add("node", s.world.Program)
	s.world.Watch(func(name, _ string) {
		if name == "list" {
			s.fake.AddDigest("node", "sha256:"+strings.Repeat("b", 64), other.Program)
		}
	})
	report, err := s.apply(app.ApplyOptions{Approval: auto})
	if err != nil || report.Status != apply.OK || len(other.Things()) != 0 || s.things() != everything {
		t.Errorf("%+v, %v: there are %s, and by the new image %v", report, err, s.things(), other.Things())
	}
}

// -target and -exclude hold in each round.
func TestRounds_KeepTheSelection(t *testing.T) {
	s := newSite(t, names+"resource \"more\" {\n  type = \"thing\"\n}\n")
	report, err := s.apply(app.ApplyOptions{Approval: auto, Selection: plan.Selection{Targets: []string{`node["y"]`}}})
	if err != nil || report.Status != apply.OK || s.things() != `list node["y"]` {
		t.Errorf("-target: %+v, %v: there are %s", report, err, s.things())
	}
	s = newSite(t, names)
	if report, err = s.apply(app.ApplyOptions{Approval: auto, Selection: plan.Selection{Excludes: []string{"node"}}}); err != nil || report.Status != apply.OK ||
		s.things() != "list" {
		t.Errorf("-exclude: %+v, %v: there are %s", report, err, s.things())
	}
}

func digestOf(t *testing.T, p *plan.Plan) string {
	t.Helper()
	digest, err := planfile.Digest(p)
	if err != nil {
		t.Fatal(err)
	}
	return digest
}
