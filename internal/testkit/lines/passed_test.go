package lines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deployster/apply"
	"deployster/apply/fresh"
	"deployster/config"
	appartifacts "deployster/internal/app/artifacts"
	"deployster/internal/runtime/artifact"
	filestore "deployster/internal/runtime/artifact/store"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan"
	"deployster/plan/artifacts"
	"deployster/plan/planfile"
	"deployster/plan/subject"
	"deployster/state"
)

// pipeline is a state with two instances of tests and a production, which uses what these have passed.
type pipeline struct {
	*history
	fails map[string]map[string]bool // by instance, the files that it refuses
	has   map[string]string          // address -> the files that it has
	valid map[string]map[string]bool // by instance, the files that it was ever VALID with
	name  string                     // of the block of the tests
	kept  []byte
	known map[string]map[string]bool // valid before the plan that is carried out now
}

const tests, production = "test/tests:1", "test/production:1"

func newPipeline(t *testing.T, seed uint64, speaks artifact.Protocol) *pipeline {
	h := &history{world: newWorld(speaks), r: rand.New(rand.NewPCG(seed, 1)), dir: t.TempDir(), speaks: speaks}
	return &pipeline{history: h, fails: map[string]map[string]bool{"a": {}, "b": {}}, has: map[string]string{}, name: "tests",
		valid: map[string]map[string]bool{"a": {}, "b": {}}, known: map[string]map[string]bool{}}
}

func (p *pipeline) manifest() string {
	moved := ""
	if p.name != "tests" {
		moved = "moved {\n  from = resource.tests\n  to = resource." + p.name + "\n}\n"
	}
	return strings.ReplaceAll(`artifact "site" {
  type   = "test/line:1"
  source = { n = "site" }
}
artifact "tested" {
  type   = "test/line:1"
  source = { n = "site" }
  passed = [resource.NAME]
}
plug "site" { artifact = artifact.site }
plug "tested" { artifact = artifact.tested }
resource "NAME" {
  type     = "test/tests:1"
  for_each = { a = 1, b = 2 }
  config   = { of = each.key }
}
resource "production" {
  type   = "test/production:1"
  config = { of = "production" }
}
`, "NAME", p.name) + moved
}

// runner has the types: a resource has the files of its plug, and an instance of tests refuses some.
func (p *pipeline) runner() runner.Runner {
	f := runnertest.NewFake()
	answer := func(plug string) runnertest.Program {
		return func(_ context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
			in, _ := io.ReadAll(stdin)
			if len(s.Args) == 0 {
				_, _ = fmt.Fprintf(stdout, `{"plugs":{%q:{"container_path":"/from","writable":false}},"state_action":{"args":["state"]}}`, plug)
				return 0
			}
			files := ""
			for _, m := range s.Mounts {
				if b, err := os.ReadFile(filepath.Join(m.Source, "version")); err == nil && m.Own {
					files = string(b)
				}
			}
			who := "production"
			for _, key := range []string{"a", "b"} {
				if bytes.Contains(in, []byte(`"of":"`+key+`"`)) {
					who = key
				}
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			switch {
			case s.Args[0] == "copy" && p.fails[who][files]:
				_, _ = io.WriteString(stderr, "refused")
				return 1
			case s.Args[0] == "copy":
				p.has[who] = files
			case p.has[who] == files:
				if p.valid[who] != nil {
					p.valid[who][files] = true
				}
				_, _ = fmt.Fprintf(stdout, `{"status":"VALID","state":{"files":%q}}`, files)
			default:
				_, _ = fmt.Fprintf(stdout, `{"status":"STALE","staleState":{"files":%q},"actions":[{"name":"copy","args":["copy"]}]}`, p.has[who])
			}
			return 0
		}
	}
	f.Add(tests, answer("site"))
	f.Add(production, answer("tested"))
	return f
}

// command runs what a command does with the state that it has opened.
func (p *pipeline) command(do func(*session) error) error {
	store, err := state.Open(context.Background(), state.File(p.statePath()), state.Options{Command: "test"})
	if err != nil {
		return err
	}
	s := &session{h: p.history, store: store, prior: store.Snapshot()}
	s.files = filestore.New(filestore.Options{Dir: filepath.Join(p.dir, "artifacts"), Client: p.world, Command: "test"})
	s.types = typeclient.New(typeclient.Options{Runner: p.runner(), Version: "0.1.0", Workspace: p.dir, Backoff: []time.Duration{}})
	return errors.Join(do(s), s.close())
}

// plan makes a plan. follow are the only artifacts that may change; nil = all.
func (p *pipeline) plan(s *session, follow []string) ([]byte, error) {
	p.mu.Lock()
	for who, files := range p.valid { // a plan may know of what was VALID before it began
		p.known[who] = map[string]bool{}
		for f := range files {
			p.known[who][f] = true
		}
	}
	p.mu.Unlock()
	ctx := context.Background()
	m, err := p.load(config.Sources{Workspace: p.dir, Dir: p.dir, Manifests: []config.File{{Path: "main.hcl", Bytes: []byte(p.manifest())}}})
	if err != nil {
		return nil, err
	}
	present := subject.New(m, s.prior, subject.Selection{})
	if diags := present.Begin(); diags.HasErrors() {
		return nil, diags
	}
	r := artifacts.New(artifacts.Options{Client: p.world, Store: s.files, Declared: m.Artifacts(), Recorded: s.prior.Artifacts, Follow: follow,
		Passing: artifacts.PassingOf(m, present.Prior)})
	names, err := appartifacts.Wanted(m, func(string) bool { return true }, true)
	if err = errors.Join(err, r.All(ctx, names, 2)); err != nil {
		return nil, err
	}
	m, diags := m.WithArtifacts(artifacts.Values(r.Pins()))
	if diags.HasErrors() {
		return nil, diags
	}
	made, diags := plan.Build(ctx, m, s.prior, s.client(m, r.Pins), plan.Options{Version: "0.1.0", Workspace: p.dir, Parallelism: 2,
		Now: time.Now(), Artifacts: r})
	if diags.HasErrors() {
		return nil, diags
	}
	if err := p.judge(made, s.prior.Artifacts["tested"]); err != nil {
		return nil, err
	}
	var file bytes.Buffer
	err = planfile.Write(&file, made)
	return file.Bytes(), err
}

// judge returns what is wrong with the versions of a plan.
func (p *pipeline) judge(made *plan.Plan, recorded state.Artifact) error {
	pin, used := made.Artifacts["tested"]
	if why := made.Unreached["production"]; used == (why != nil) {
		return fmt.Errorf("the artifact has a version: %v, and production is left: %v", used, why)
	}
	if !used || pin.Recipe.Version.Is(recorded.Recipe.Version) {
		return nil
	}
	files := filesOf(pin.Recipe.Version)
	if !p.known["a"][files] || !p.known["b"][files] {
		return fmt.Errorf("production would get %v, with which the tests were VALID: a %v, b %v", pin.Recipe.Version, p.known["a"][files],
			p.known["b"][files])
	}
	return nil
}

// filesOf are the files of a version, as the world has them.
func filesOf(v artifact.Version) string { return v.String() + "\n" }

// carryOut applies a plan, and dies at a record if dies > 0.
func (p *pipeline) carryOut(s *session, file []byte, dies int) error {
	ctx := context.Background()
	made, err := planfile.Read(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return err
	}
	m, err := p.load(made.Sources)
	if err != nil {
		return err
	}
	if err := fresh.Check(made, s.prior); err != nil || made.Lineage != s.prior.Lineage {
		p.sayf("%v", err)
		return nil
	}
	f := s.client(m, func() map[string]artifacts.Pin { return made.Artifacts })
	if err := f.Prefetch(ctx, made); err != nil {
		p.sayf("%v", err)
		return nil
	}
	journal, err := s.store.Begin(made.ID, made.Lineage)
	if err != nil {
		return err
	}
	pins := map[string]state.Pin{}
	for _, pin := range made.Artifacts {
		pins[pin.Key] = pin.Pin
	}
	at := 1 << 30
	if dies > 0 {
		at = dies
	}
	j := mortal{journal, &p.ends, &at, p.r.IntN(2) == 0}
	if err := journal.Pins(pins); err != nil {
		return err
	}
	p.sayf("at %v, named %s: artifacts %v", p.there, p.name, func() (l []string) {
		for n, x := range made.Artifacts {
			l = append(l, fmt.Sprint(n, x.Was, x.Recipe.Version, x.Waits, x.WaitsFor, x.Note, x.Unlisted))
		}
		return
	}())
	report, err := apply.Run(ctx, made, m, s.prior, j, f, apply.Options{Parallelism: 2, Now: time.Now})
	if at <= 0 {
		return nil // nobody writes how it ended
	}
	if err != nil || report.Status != apply.OK {
		return errors.Join(err, journal.Finish(state.StatusError))
	}
	use := map[string]state.Artifact{}
	for name, pin := range made.Artifacts {
		use[name] = pin.Recorded(time.Now())
	}
	return errors.Join(journal.Artifacts(use), journal.Finish(state.StatusOK))
}

// planAndApply is one command; its versions may be limited to followed ones.
func (p *pipeline) planAndApply(dies int, follow []string) error {
	return p.command(func(s *session) error {
		file, err := p.plan(s, follow)
		if err != nil {
			return err
		}
		if p.r.IntN(4) == 0 {
			p.kept = file
		}
		return p.carryOut(s, file, dies)
	})
}

func (p *pipeline) step() error {
	switch p.r.IntN(6) {
	case 0, 1:
		p.move(append(slices.Clone(p.there), p.newest+1)...)
	case 2:
		p.move(p.there[min(1, len(p.there)-1):]...) // the oldest vanishes
	case 3:
		p.fails[[]string{"a", "b"}[p.r.IntN(2)]][filesOf(version(p.newest))] = true
	case 4:
		if p.r.IntN(3) == 0 {
			p.name = "checks"
		}
	}
	follow := [][]string{nil, nil, {"site"}, {"tested"}, {"site", "tested"}}[p.r.IntN(5)]
	dies := p.r.IntN(3) * p.r.IntN(7)
	if p.kept != nil && p.r.IntN(5) == 0 {
		return p.command(func(s *session) error { return p.carryOut(s, p.kept, dies) })
	}
	return p.planAndApply(dies, follow)
}

// settle wants a new good version to reach production in two commands, and not in one.
func (p *pipeline) settle() error {
	p.move(append(slices.Clone(p.there), p.newest+1)...)
	want := filesOf(version(p.newest))
	for range 2 {
		if p.has["production"] == want {
			return errors.New("production has the newest version already")
		}
		if err := p.planAndApply(0, nil); err != nil {
			return err
		}
	}
	if p.has["production"] != want || p.has["a"] != want {
		return fmt.Errorf("production has %s after two applies, and %s is the newest", p.has["production"], want)
	}
	return nil
}

// No version reaches production that has not passed all instances of the tests, in an earlier command, whatever fails, dies,
// vanishes or is renamed; and one that has passed does.
func TestPassed_RandomHistories(t *testing.T) {
	t.Parallel()
	for _, speaks := range []artifact.Protocol{artifact.Concourse1, artifact.Artifacts2} {
		for seed := range uint64(3) {
			p := newPipeline(t, seed, speaks)
			for n := range 12 {
				if err := p.step(); err != nil {
					t.Fatalf("%s, seed %d, step %d: %v", speaks, seed, n, err)
				}
			}
			if err := p.settle(); err != nil {
				t.Fatalf("%s, seed %d, at the end: %v\n%s", speaks, seed, err, strings.Join(p.log, "\n"))
			}
		}
	}
}
