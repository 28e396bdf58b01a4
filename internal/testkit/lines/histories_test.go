package lines

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"deployster/apply"
	"deployster/apply/fresh"
	"deployster/config"
	appartifacts "deployster/internal/app/artifacts"
	"deployster/internal/runtime/artifact"
	filestore "deployster/internal/runtime/artifact/store"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan"
	"deployster/plan/artifacts"
	"deployster/plan/planfile"
	"deployster/state"
	"deployster/state/actions"
)

// history is one state file, and what happens to it.
type history struct {
	*world
	r      *rand.Rand
	dir    string
	speaks artifact.Protocol

	// What the manifest says.
	n          int
	idempotent bool
	pin        int // the version of the block; 0 = none

	saved []byte // a plan that was kept
	dies  int    // the record at which the command dies; 0 = it lives
	log   []string
}

func (h *history) sayf(format string, args ...any) {
	h.log = append(h.log, fmt.Sprintf(format, args...))
}

func (h *history) statePath() string { return filepath.Join(h.dir, "state.json") }

func (h *history) manifest() string {
	pin, again := "", ""
	if h.pin > 0 {
		pin = fmt.Sprintf("  version = { ref = \"site%d\" }\n  space = %q\n", h.pin, h.space)
		if h.space == "" {
			pin = fmt.Sprintf("  version = { ref = \"site%d\" }\n", h.pin)
		}
	}
	if h.idempotent {
		again = "  idempotent = true\n"
	}
	return fmt.Sprintf("artifact \"site\" {\n  type = \"test/line:1\"\n  source = { n = \"site\" }\n%s}\nartifact \"out\" {\n  type = \"test/line:1\"\n"+
		"  source = { n = \"out\" }\n}\nplug \"site\" {\n  artifact = artifact.site\n}\nresource \"docroot\" {\n  type = \"test/docroot:1\"\n}\n"+
		"publish \"release\" {\n  artifact = artifact.out\n  params = { space = %q, version = { ref = \"n%d\" } }\n  inputs = { site = artifact.site }\n"+
		"%s  depends_on = [resource.docroot]\n}\noutput \"released\" {\n  value = publish.release.version.ref\n}\n", pin, h.space, h.n, again)
}

const released = "publish.release"

// session is one command.
type session struct {
	h     *history
	store *state.Store
	files *filestore.Store
	types *typeclient.Client
	prior state.Snapshot
}

func (h *history) open() (*session, error) {
	store, err := state.Open(context.Background(), state.File(h.statePath()), state.Options{Command: "test"})
	if err != nil {
		return nil, err
	}
	s := &session{h: h, store: store, prior: store.Snapshot()}
	s.files = filestore.New(filestore.Options{Dir: filepath.Join(h.dir, "artifacts"), Client: h.world, Command: "test"})
	s.types = typeclient.New(typeclient.Options{Runner: h.runner(), Version: "0.1.0", Workspace: h.dir, Backoff: []time.Duration{}})
	return s, nil
}

func (s *session) close() error { return errors.Join(s.files.Close(), s.store.Close()) }

func (s *session) client(m *config.Manifest, pins func() map[string]artifacts.Pin) *appartifacts.Client {
	return appartifacts.New(appartifacts.Options{Types: s.types, Client: s.h.world, Store: s.files, Manifest: m, Prior: s.prior, Pins: pins})
}

func (h *history) load(src config.Sources) (*config.Manifest, error) {
	m, diags := config.Load(src, nil, config.Builtins{Version: "0.1.0", Workspace: h.dir})
	return m, diags.Err()
}

// plan makes a plan, and gives the bytes of its file.
func (s *session) plan(recorded bool) ([]byte, error) {
	ctx := context.Background()
	m, err := s.h.load(config.Sources{Workspace: s.h.dir, Dir: s.h.dir, Manifests: []config.File{{Path: "main.hcl", Bytes: []byte(s.h.manifest())}}})
	if err != nil {
		return nil, err
	}
	r := artifacts.New(artifacts.Options{Client: s.h.world, Store: s.files, Declared: m.Artifacts(), Recorded: s.prior.Artifacts, UseRecorded: recorded})
	names, err := appartifacts.Wanted(m, func(string) bool { return true }, true)
	if err = errors.Join(err, r.All(ctx, names, 2)); err != nil {
		return nil, err
	}
	m, diags := m.WithArtifacts(artifacts.Values(r.Pins()))
	if diags.HasErrors() {
		return nil, diags
	}
	p, diags := plan.Build(ctx, m, s.prior, s.client(m, r.Pins), plan.Options{Version: "0.1.0", Workspace: s.h.dir, Parallelism: 2, Now: time.Now(),
		Artifacts: r})
	if diags.HasErrors() {
		return nil, diags
	}
	var file bytes.Buffer
	err = planfile.Write(&file, p)
	return file.Bytes(), err
}

// apply carries out a plan file. refusal is why it was not begun.
func (s *session) apply(file []byte) (p *plan.Plan, report *apply.Report, refusal, err error) {
	ctx := context.Background()
	if p, err = planfile.Read(bytes.NewReader(file), int64(len(file))); err != nil {
		return nil, nil, nil, err
	}
	m, err := s.h.load(p.Sources)
	if err != nil {
		return p, nil, nil, err
	}
	if refusal := fresh.Check(p, s.prior); refusal != nil {
		return p, nil, refusal, nil
	}
	f := s.client(m, func() map[string]artifacts.Pin { return p.Artifacts })
	if refusal := f.Prefetch(ctx, p); refusal != nil {
		return p, nil, refusal, nil
	}
	journal, err := s.store.Begin(p.ID, p.Lineage)
	if err != nil {
		return p, nil, err, nil
	}
	pins := map[string]state.Pin{}
	for _, pin := range p.Artifacts {
		pins[pin.Key] = pin.Pin
	}
	if err := journal.Pins(pins); err != nil {
		return p, nil, nil, err
	}
	at := s.h.dies
	if at == 0 {
		at = 1 << 30
	}
	s.h.ends.started, s.h.ends.ran = false, false
	j := mortal{journal, &s.h.ends, &at, s.h.r.IntN(2) == 0}
	f.Record(j)
	step := p.Resources[released]
	s.h.now = effect{config: string(step.Config), known: s.h.ends.known}
	for _, r := range step.Answer().Reasons {
		s.h.now.reason += r.Message + "; "
	}
	report, err = apply.Run(ctx, p, m, s.prior, j, f, apply.Options{Parallelism: 2, Now: time.Now})
	if at <= 0 { // the process is dead: nobody writes that it has ended
		return p, nil, nil, errDead
	}
	if err != nil || report.Status != apply.OK {
		return p, report, nil, errors.Join(err, journal.Finish(state.StatusError))
	}
	use := map[string]state.Artifact{}
	for name, pin := range p.Artifacts {
		use[name] = pin.Recorded(time.Now())
	}
	return p, report, nil, errors.Join(journal.Artifacts(use), journal.Finish(state.StatusOK))
}

// adopt is what the next command that records does about a put of a dead one: it finds out
// how that ended, if anybody knows.
func (h *history) adopt(plan string, known bool) error {
	s, err := h.open()
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	u, open := s.prior.Unsettled[released]
	if open && u.Plan != plan { // of a put before that of the dead one
		if h.ends.started && !h.ends.ran {
			h.ends.known, h.tried = h.ends.before, h.ends.tried
			h.sayf("it had recorded that its put was not begun")
		}
		return nil
	}
	if !open || !known {
		return nil
	}
	for _, a := range u.Open() {
		exit := 0
		if !h.ends.ran { // its program was never begun, and left no trace
			if err := s.store.Settle(released, a.Key, nil, nil); err != nil {
				return err
			}
			h.ends.known, h.tried = h.ends.before, h.ends.tried
			h.sayf("it is found out that it was not begun")
			continue
		}
		if !h.hasPut(string(u.Put.Config)) {
			return nil // it was lost with its machine
		}
		v := artifact.Versioned{Space: h.space, Version: artifact.Version{"ref": h.effects[len(h.effects)-1].ref}}
		if err := s.store.Replace(s.store.Snapshot().Answered(released, &artifact.Put{Created: []artifact.Versioned{v}})); err != nil {
			return err
		}
		if err := s.store.Settle(released, a.Key, &exit, nil); err != nil {
			return err
		}
		h.ends.known = endedWell
		h.sayf("its end is found out")
	}
	return nil
}

// hasPut reports whether a config was published last.
func (h *history) hasPut(config string) bool {
	return len(h.effects) > 0 && h.effects[len(h.effects)-1].config == config
}

// judge is a person who has looked.
func (h *history) judge() error {
	s, err := h.open()
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	said := actions.Failed
	h.ends.known = saidFailed
	if h.hasPut(string(s.prior.Unsettled[released].Put.Config)) {
		said, h.ends.known = actions.Done, saidDone
	}
	h.sayf("a person says %s", said)
	return s.store.Replace(s.prior.Judged(released, said))
}

const unknownPut = "The outcome of a put is unknown"

// step is one thing that happens, and what must be so after it.
func (h *history) step() error {
	if h.r.IntN(2) == 0 {
		h.happen()
	}
	h.edit()
	h.fate, h.dies = well, 0
	if h.r.IntN(2) == 0 {
		h.fate = fates()[h.r.IntN(len(fates()))]
	}
	if h.fate != well {
		h.sayf("the next put %s", h.fate)
	}
	if h.r.IntN(4) == 0 {
		h.dies = 1 + h.r.IntN(8)
	}
	switch h.r.IntN(10) {
	case 0:
		return h.keep()
	case 8, 9:
		return h.thereAndBack()
	case 1, 2:
		return h.execute(h.saved, "the plan that was kept")
	case 3:
		return h.prune()
	}
	return h.planAndApply(h.r.IntN(4) == 0)
}

// thereAndBack puts something, and its command may die; tries a put of something else, which
// is not begun; and then wants again what was put before that.
func (h *history) thereAndBack() error {
	h.n++
	h.sayf("the manifest says n=%d", h.n)
	h.dies = h.r.IntN(9)
	if err := h.planAndApply(false); err != nil {
		return err
	}
	h.n++
	h.sayf("the manifest says n=%d, for one command", h.n)
	h.fate, h.dies = unbegun, h.r.IntN(2)*h.r.IntN(5)
	if err := h.planAndApply(false); err != nil {
		return err
	}
	h.n--
	h.fate, h.dies = well, 0
	return h.planAndApply(false)
}

// happen is something in the world.
func (h *history) happen() {
	switch there := slices.Clone(h.there); h.r.IntN(5) {
	case 0, 1:
		h.move(append(there, h.newest+1)...)
	case 2:
		h.move(there[:max(1, len(there)-1)]...) // the newest vanishes
	case 3:
		h.move(h.newest+1, h.newest+2) // rewritten
	case 4:
		h.move(append(there, 1+h.r.IntN(h.newest))...) // an older one comes back
	}
	h.sayf("the site has %v", h.there)
}

func (h *history) edit() {
	switch h.r.IntN(6) {
	case 0:
		h.n++
	case 1:
		h.n = max(1, h.n-1)
	case 2:
		h.pin = h.there[h.r.IntN(len(h.there))]
	case 3:
		h.pin = 0
	default:
		return
	}
	h.sayf("the manifest says n=%d pin=%d", h.n, h.pin)
}

func (h *history) prune() error {
	s, err := h.open()
	if err != nil {
		return err
	}
	_, err = s.files.Prune(context.Background(), true)
	h.sayf("the files are pruned")
	return errors.Join(err, s.close())
}

// keep saves a plan.
func (h *history) keep() error {
	file, err := h.look(false)
	if file != nil {
		h.saved = file
		h.sayf("a plan is kept")
	}
	return err
}

// look makes a plan. That there is none must have its reason.
func (h *history) look(recorded bool) ([]byte, error) {
	s, err := h.open()
	if err != nil {
		return nil, err
	}
	file, err := s.plan(recorded)
	prior := s.prior
	if err = errors.Join(err, s.close()); err == nil {
		return file, nil
	}
	u := prior.Unsettled[released]
	switch {
	case strings.Contains(err.Error(), unknownPut):
		if h.speaks == artifact.Artifacts2 || h.idempotent || len(u.Actions) == 0 {
			return nil, fmt.Errorf("nobody is asked about a put that may be repeated: %w", err)
		}
		if h.ends.known != unseen {
			return nil, fmt.Errorf("the last put %s, and somebody is asked: %w", h.ends.known, err)
		}
		return nil, h.judge()
	case strings.Contains(err.Error(), "the pinned version no longer exists"):
		if h.speaks != artifact.Artifacts2 || slices.Contains(h.there, h.pin) {
			return nil, fmt.Errorf("version %d is there: %w", h.pin, err)
		}
		h.pin = 0
		return nil, nil
	case strings.Contains(err.Error(), "is not there"): // of a get
		_, after, _ := strings.Cut(err.Error(), ": site")
		n, nerr := strconv.Atoi(strings.TrimSuffix(after, " is not there"))
		if nerr != nil || slices.Contains(h.there, n) || !recorded && (h.speaks == artifact.Artifacts2 || n != h.pin) {
			return nil, fmt.Errorf("version %d is there, or was not chosen: %w", n, err)
		}
		h.pin = 0
		return nil, nil
	}
	return nil, err
}

func (h *history) planAndApply(recorded bool) error {
	before := len(h.effects)
	file, err := h.look(recorded)
	if err != nil || file == nil {
		if len(h.effects) > before {
			return errors.New("a plan has put something")
		}
		return err
	}
	return h.execute(file, map[bool]string{true: "a plan that believes what is recorded", false: "a plan"}[recorded])
}

// execute applies a plan, and looks at what has become of it.
func (h *history) execute(file []byte, what string) error {
	if file == nil {
		return nil
	}
	before := len(h.effects)
	s, err := h.open()
	if err != nil {
		return err
	}
	p, report, refusal, err := s.apply(file)
	err = errors.Join(err, s.close())
	h.sayf("%s is applied (it dies at %d): %v, refused: %v", what, h.dies, err, refusal)
	for _, e := range h.effects[before:] {
		h.sayf("    put %s with %s, because %s", e.ref, strings.TrimSpace(e.files), e.reason)
	}
	if p == nil {
		return err
	}
	pin := p.Artifacts["site"]
	files := pin.Recipe.Version["ref"] + "\n"
	for _, e := range h.effects[before:] {
		if e.files != files {
			return fmt.Errorf("%q was put, and %q was planned", e.files, files)
		}
		if err := h.repeated(e, before); err != nil {
			return err
		}
	}
	switch {
	case len(h.effects) > before+1:
		return fmt.Errorf("it was put %d times by one command", len(h.effects)-before)
	case refusal != nil:
		if len(h.effects) > before {
			return errors.New("a plan that was refused has put something")
		}
		return h.mustBeRefused(refusal, pin)
	case acts(p) && h.speaks == artifact.Artifacts2 && !slices.Contains(h.there, number(pin)):
		return errors.New("a version that is gone was used")
	case errors.Is(err, errDead):
		if h.ends.started && h.ends.known == unseen { // nobody can know that its program was not begun
			h.ends.tried, h.tried = h.tried, string(p.Resources[released].Config)
		}
		return h.adopt(p.ID, h.r.IntN(2) == 0)
	case err != nil:
		return err
	case report.Status != apply.OK:
		return nil
	}
	if h.docroot != files {
		return fmt.Errorf("the resource has %q, and %q was planned", h.docroot, files)
	}
	if !h.hasPut(string(p.Resources[released].Config)) {
		return fmt.Errorf("it went well, and last was put %+v", h.effects)
	}
	return h.settled(p)
}

// repeated looks at a put of what was tried last, too: it must have been said why.
func (h *history) repeated(e effect, before int) error {
	if before == 0 || h.effects[before-1].config != e.config || e.before != e.config {
		return nil
	}
	mayBe := h.speaks == artifact.Artifacts2 || h.idempotent
	for _, may := range []struct {
		known  end
		reason string
		so     bool
	}{
		{endedBadly, "the last put ended with exit code 7", true},
		{saidFailed, "a user recorded that the last put failed", true},
		{unseen, "put again: the outcome of the last one", mayBe},
	} {
		if may.so && e.known == may.known && strings.Contains(e.reason, may.reason) {
			return nil
		}
	}
	return fmt.Errorf("it was put twice, and the last put %s, because: %s", cmp.Or(e.known, "has an end that nobody knows"), e.reason)
}

// number is the version of the site in a plan.
func number(pin artifacts.Pin) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(pin.Recipe.Version["ref"], "site")) // the world has no other
	return n
}

// acts reports whether a plan runs anything for which it needs files.
func acts(p *plan.Plan) bool {
	return p.Resources[released].Change() != plan.Valid || p.Resources["docroot"].Change() != plan.Valid
}

// mustBeRefused looks whether a refusal has its reason.
func (h *history) mustBeRefused(refusal error, pin artifacts.Pin) error {
	n := number(pin)
	there := slices.Contains(h.there, n)
	switch text := refusal.Error(); {
	case strings.Contains(text, "a version no longer exists") && (there || h.speaks != artifact.Artifacts2):
		return fmt.Errorf("version %d is there: %w", n, refusal)
	case strings.Contains(text, "cannot be fetched") && there:
		return fmt.Errorf("version %d is there: %w", n, refusal)
	case strings.Contains(text, "plan is stale"):
		h.saved = nil
		return nil
	}
	return refusal
}

// settled looks at what is recorded after an apply that went well, and plans again: nothing
// is left to do, and nothing is fetched.
func (h *history) settled(p *plan.Plan) error {
	s, err := h.open()
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	if got := s.prior.Artifacts["site"].Recipe.Version; !got.Is(p.Artifacts["site"].Recipe.Version) || len(s.prior.Unsettled) > 0 {
		return fmt.Errorf("%v is recorded, unsettled: %v", got, s.prior.Unsettled)
	}
	h.TakeLog()
	if _, kept := s.files.Look(p.Artifacts["site"].Key); !kept {
		return nil // nobody can say whether they can be had again
	}
	m, err := h.load(p.Sources)
	if err != nil {
		return err
	}
	r := artifacts.New(artifacts.Options{Client: h.world, Store: s.files, Declared: m.Artifacts(), Recorded: s.prior.Artifacts, UseRecorded: true})
	again, diags := plan.Build(context.Background(), m, s.prior, s.client(m, r.Pins), plan.Options{Version: "0.1.0", Workspace: h.dir,
		Parallelism: 2, Now: time.Now(), Artifacts: r})
	if diags.HasErrors() {
		return diags
	}
	for addr, step := range again.Resources {
		if step.Change() != plan.Valid {
			return fmt.Errorf("%s is %s in the next plan: %v", addr, step.Change(), step.Answer().Reasons)
		}
	}
	if log := h.TakeLog(); slices.ContainsFunc(log, func(l string) bool { return strings.HasPrefix(l, "get ") }) {
		return fmt.Errorf("the next plan has fetched: %v", log)
	}
	return nil
}

// TestHistories_KeepBothProtocols plays random histories of both protocols.
func TestHistories_KeepBothProtocols(t *testing.T) {
	t.Parallel()
	count, first := 20, uint64(1)
	if n, err := strconv.Atoi(os.Getenv("DEPLOYSTER_LINES")); err == nil {
		count = n
	}
	if n, err := strconv.ParseUint(os.Getenv("DEPLOYSTER_LINES_SEED"), 10, 64); err == nil {
		first = n
	}
	puts, plans := 0, 0
	for seed := first; seed < first+uint64(count); seed++ {
		speaks := []artifact.Protocol{artifact.Concourse1, artifact.Artifacts2}[seed%2]
		h := &history{world: newWorld(speaks), r: rand.New(rand.NewPCG(seed, 0)), dir: t.TempDir(), speaks: speaks, n: 1, idempotent: seed%6 == 2}
		for i := range 25 {
			if err := h.step(); err != nil {
				t.Fatalf("seed %d, step %d: %v\n%s", seed, i+1, err, strings.Join(h.log, "\n"))
			}
			plans++
		}
		puts += len(h.effects)
		if err := os.RemoveAll(h.dir); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d steps, %d puts", plans, puts)
	if puts < count {
		t.Errorf("only %d puts in %d histories", puts, count)
	}
}
