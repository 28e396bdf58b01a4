package app

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"deployster/apply"
	"deployster/internal/app/approval"
	"deployster/internal/app/workspace"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/plan"
	"deployster/protocol"
	"deployster/state"
)

// history is an engine whose manifest changes from apply to apply.
type history struct {
	*Engine
	t    *testing.T
	fake *runnertest.Fake
	ran  *[]string

	things map[string]string // by id
	mu     *sync.Mutex       // of ran and things, while programs run
}

// historical is a type: an object is what its config says; "id" cannot be changed in place.
func (h history) historical(init string) runnertest.Program {
	return func(_ context.Context, s runner.Spec, stdin io.Reader, stdout, _ io.Writer) int {
		if len(s.Args) == 0 {
			_, _ = io.WriteString(stdout, init)
			return 0
		}
		var in protocol.ActionInput
		if json.NewDecoder(stdin).Decode(&in) != nil {
			return 90
		}
		var c struct{ ID string }
		_ = json.Unmarshal(in.Config, &c)
		h.mu.Lock()
		defer h.mu.Unlock()
		have, exists := h.things[c.ID]
		switch a := s.Args[0]; {
		case a != "state":
			*h.ran = append(*h.ran, a+" "+in.Name)
			h.things[c.ID] = string(in.Config)
			if a == "delete" {
				delete(h.things, c.ID)
			}
			if strings.Contains(init, "memory") {
				_, _ = io.WriteString(stdout, `{"memory":"m"}`)
			}
		case in.Intent == protocol.Absent && !exists:
			_, _ = io.WriteString(stdout, `{"status":"MISSING"}`)
		case in.Intent == protocol.Absent:
			_, _ = io.WriteString(stdout, `{"status":"STALE","staleState":{},"actions":[{"name":"delete","args":["delete"]}]}`)
		case have == string(in.Config):
			kind := "old"
			if strings.Contains(init, `"label":"new"`) {
				kind = "new"
			}
			_, _ = io.WriteString(stdout, `{"status":"VALID","state":{"kind":"`+kind+`"}}`)
		case exists:
			_, _ = io.WriteString(stdout, `{"status":"STALE","staleState":{},"actions":[{"name":"update","args":["update"],"destructive":`+
				strconv.FormatBool(strings.Contains(init, "destructive"))+`}]}`)
		default:
			_, _ = io.WriteString(stdout, `{"status":"STALE","actions":[{"name":"create","args":["create"]}]}`)
		}
		return 0
	}
}

const historicalInit = `{"protocol":2,"absent":true,"identity":["/id"],"state_action":{"args":["state"]}}`

func newHistory(t *testing.T) history {
	t.Helper()
	dir, fake := t.TempDir(), runnertest.NewFake()
	e := New(Options{Workspace: workspace.Options{Dir: dir, Version: "test"},
		Open: func(context.Context) (Runtime, error) { return runnertest.Runtime{Fake: fake}, nil }})
	t.Cleanup(e.Close)
	h := history{e, t, fake, &[]string{}, map[string]string{}, &sync.Mutex{}}
	digest := fake.Add("thing", h.historical(historicalInit))
	fake.AddDigest("thing@"+digest, digest, h.historical(historicalInit)) // as a plan names it
	return h
}

// apply applies a manifest, and returns the serial of the state that it makes.
func (h history) apply(manifest string) uint64 {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.Workspace.Dir, "main.hcl"), []byte(manifest), 0o600); err != nil {
		h.t.Fatal(err)
	}
	report, err := h.Apply(h.t.Context(), ApplyOptions{Approval: approval.Options{Auto: true}})
	if err != nil || report.Status != apply.OK {
		h.t.Fatalf("%+v, %v", report, err)
	}
	return h.state().Serial
}

func (h history) state() state.Snapshot {
	h.t.Helper()
	s, err := h.Workspace.ReadState(h.t.Context(), h.Workspace.StatePlaceAround())
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// back goes back to a serial, and returns what was run for that.
func (h history) back(to uint64) (ran []string, err error) {
	h.t.Helper()
	*h.ran = nil
	report, err := h.Apply(h.t.Context(), ApplyOptions{Back: &to, Approval: approval.Options{Auto: true}})
	if err == nil && report.Status != apply.OK {
		h.t.Errorf("%+v", report)
	}
	slices.Sort(*h.ran)
	return *h.ran, err
}

func thingOf(name, id, size string) string {
	return "resource \"" + name + "\" {\n  type   = \"thing\"\n  config = { id = \"" + id + "\", size = " + size + " }\n}\n"
}

// A rollback plans from the manifests and variables of an apply, with today's states.
func TestRollback_GoesBackToManifests(t *testing.T) {
	h := newHistory(t)
	size := "variable \"size\" {\n  type    = number\n  default = 1\n}\n"
	first := h.apply(size + thingOf("a", "x", "var.size") + thingOf("gone", "z", "1"))
	h.apply(strings.Replace(size, "= 1", "= 5", 1) + thingOf("a", "x", "var.size") + thingOf("late", "y", "1"))
	ran, err := h.back(first)
	if err != nil || !slices.Equal(ran, []string{"create gone", "delete late", "update a"}) {
		t.Fatalf("%v, %v", ran, err)
	}
	now := h.state()
	if !strings.Contains(string(now.Resources["a"].Config), `"size":1`) || now.Applied[len(now.Applied)-1].By.Command != "deployster rollback" {
		t.Errorf("%s, %+v", now.Resources["a"].Config, now.Applied[len(now.Applied)-1])
	}
	if ran, err = h.back(now.Serial); err != nil || len(ran) > 0 {
		t.Errorf("to where it is: %v, %v", ran, err)
	}
}

// The moves since are inverted: nothing is destroyed and created again. A type without identity has nothing else to find its object by.
func TestRollback_InvertsMoves(t *testing.T) {
	h := newHistory(t)
	nameless := h.historical(strings.Replace(historicalInit, `"identity":["/id"],`, "", 1))
	digest := h.fake.Add("thing", nameless)
	h.fake.AddDigest("thing@"+digest, digest, nameless)
	first := h.apply(thingOf("a", "x", "1"))
	h.apply(thingOf("b", "x", "1") + "moved {\n  from = resource.a\n  to   = resource.b\n}\n")
	h.apply(thingOf("c", "x", "2") + "moved {\n  from = resource.b\n  to   = resource.c\n}\n")
	ran, err := h.back(first)
	if now := h.state(); err != nil || !slices.Equal(ran, []string{"update a"}) || len(now.Resources) != 1 || now.Resources["a"].Type == "" {
		t.Errorf("%v, %v, %v", ran, err, now.Resources)
	}
}

// Without an inverse nothing is done.
func TestRollback_RefusesMovesWithoutInverse(t *testing.T) {
	h := newHistory(t)
	first := h.apply(thingOf("a", "x", "1") + thingOf("b", "y", "1"))
	h.apply(thingOf("c", "x", "1") + thingOf("b", "y", "1") + "moved {\n  from = resource.a\n  to   = resource.c\n}\n")
	h.apply(thingOf("c", "x", "1") + thingOf("a", "y", "1") + "moved {\n  from = resource.b\n  to   = resource.a\n}\n")
	ran, err := h.back(first)
	if err == nil || !strings.Contains(err.Error(), "have no inverse") || len(ran) > 0 {
		t.Errorf("%v, %v", ran, err)
	}
}

// What has gone to another state since is not made again.
func TestRollback_LeavesWhatWasTransferred(t *testing.T) {
	h := newHistory(t)
	first := h.apply(thingOf("a", "x", "1") + thingOf("b", "y", "1"))
	h.apply(thingOf("b", "y", "2"))
	store, err := h.Workspace.OpenState(t.Context(), h.Workspace.StatePlaceAround(), "test")
	if err != nil {
		t.Fatal(err)
	}
	next := store.Snapshot().Clone()
	next.Transferred = append(next.Transferred, state.Transferred{Address: "a", Seen: true,
		Transfer: state.Transfer{ID: "t", To: &state.Other{State: filepath.Join(t.TempDir(), "other.json"), Address: "a"}}})
	if err := store.Replace(next); err != nil || store.Close() != nil {
		t.Fatal(err)
	}
	if ran, err := h.back(first); err != nil || !slices.Equal(ran, []string{"update b"}) {
		t.Errorf("%v, %v", ran, err)
	}
}

// The images are those of then, but for what is destroyed.
func TestRollback_UsesTheImagesOfThen(t *testing.T) {
	h := newHistory(t)
	first := h.apply(thingOf("a", "x", "1"))
	old := h.state().Resources["a"].Digest
	const later = "sha256:1111111111111111111111111111111111111111111111111111111111111111"
	h.fake.AddDigest("thing", later, h.historical(strings.Replace(historicalInit, `"absent"`, `"label":"new","absent"`, 1)))
	h.apply(thingOf("a", "x", "2") + thingOf("b", "y", "1"))
	if now := h.state().Resources; now["a"].Digest != later || old == later {
		t.Fatalf("%s, %s", now["a"].Digest, later)
	}
	before := len(h.fake.Calls())
	if _, err := h.back(first); err != nil {
		t.Fatal(err)
	}
	if got := h.state().Resources["a"].Digest; got != old {
		t.Errorf("with the image %s, of then is %s", got, old)
	}
	for _, c := range h.fake.Calls()[before:] {
		if slices.Equal(c.Args, []string{"delete"}) && c.Digest != later {
			t.Errorf("b is destroyed by %s, today's image is %s", c.Digest, later)
		}
	}
}

// What the image of then does not understand, and what is protected today, is refused.
func TestRollback_RefusesWhatDoesNotFit(t *testing.T) {
	for name, c := range map[string]struct{ then, now, want string }{
		"a memory": {historicalInit, strings.Replace(historicalInit, `"absent"`, `"memory":true,"absent"`, 1), "has no memory"},
		"a state": {strings.Replace(historicalInit, `"absent"`, `"state_schema":{"properties":{"kind":{"enum":["old"]}}},"absent"`, 1),
			strings.Replace(historicalInit, `"absent"`, `"label":"new","absent"`, 1), "does not match the state_schema"},
	} {
		h := newHistory(t)
		then := h.fake.Add("thing", h.historical(c.then))
		first := h.apply(thingOf("a", "x", "1"))
		h.fake.AddDigest("thing@"+then, then, h.historical(c.then))
		h.fake.AddDigest("thing", "sha256:1111111111111111111111111111111111111111111111111111111111111111", h.historical(c.now))
		h.apply(thingOf("a", "x", "2"))
		if ran, err := h.back(first); err == nil || !strings.Contains(err.Error(), c.want) || len(ran) > 0 {
			t.Errorf("%s: %v, %v", name, ran, err)
		}
	}
}

// Without encryption no plan with sensitive values is kept; a plan of a part is none to go back to.
func TestRollback_RefusesWhatIsNotKept(t *testing.T) {
	h := newHistory(t)
	secret := h.apply("variable \"s\" {\n  type      = string\n  default   = \"plum-canary\"\n  sensitive = true\n}\n" + thingOf("a", "x", "var.s"))
	if content, err := os.ReadFile(filepath.Join(h.Workspace.Dir, workspace.DefaultState)); err != nil || len(h.state().Former) == 0 ||
		len(content) == 0 {
		t.Fatal(err)
	}
	h.apply(thingOf("a", "x", "2") + thingOf("b", "y", "2"))
	if _, err := h.back(secret); err == nil || !strings.Contains(err.Error(), "only in an encrypted state") {
		t.Errorf("%v", err)
	}
	if _, err := h.back(77); err == nil || !strings.Contains(err.Error(), "no copy of the state") {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(filepath.Join(h.Workspace.Dir, "main.hcl"), []byte(thingOf("a", "x", "3")+thingOf("b", "y", "3")), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Apply(t.Context(), ApplyOptions{Selection: plan.Selection{Targets: []string{"a"}}, Approval: approval.Options{Auto: true}}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.back(h.state().Serial); err == nil || !strings.Contains(err.Error(), "left out a part") {
		t.Errorf("%v", err)
	}
}

// Today's prevent_destroy holds for what the manifests of then would destroy, whoever finds that: the match of objects, the image, or
// only the apply.
func TestRollback_ProtectsWhatIsProtectedToday(t *testing.T) {
	destructive := strings.Replace(historicalInit, `"absent"`, `"label":"destructive","absent"`, 1)
	for name, c := range map[string]struct{ init, then, now string }{
		"another object": {historicalInit, thingOf("b", "x", "1"), thingOf("b", "y", "1")},
		"a change":       {destructive, thingOf("b", "x", "1"), thingOf("b", "x", "2")},
		"a late change":  {destructive, thingOf("b", "x", "resource.a.state.kind"), thingOf("b", "x", "2")},
	} {
		h := newHistory(t)
		digest := h.fake.Add("harsh", h.historical(c.init))
		h.fake.AddDigest("harsh@"+digest, digest, h.historical(c.init))
		harsh := func(of string) string { return strings.Replace(of, `"thing"`, `"harsh"`, 1) }
		first := h.apply(thingOf("a", "w", "1") + harsh(c.then))
		h.apply(thingOf("a", "w", "2") + harsh(c.now))
		h.apply(thingOf("a", "w", "2") + strings.TrimSuffix(harsh(c.now), "}\n") + "  lifecycle {\n    prevent_destroy = true\n  }\n}\n")
		*h.ran = nil
		report, err := h.Apply(t.Context(), ApplyOptions{Back: &first, Approval: approval.Options{Auto: true}})
		if err == nil && report.Status == apply.OK || slices.ContainsFunc(*h.ran, func(s string) bool { return strings.HasSuffix(s, " b") }) {
			t.Errorf("%s: %v, %v", name, *h.ran, err)
		}
		if err != nil && !strings.Contains(err.Error(), "prevent_destroy") || (err != nil) != (name != "a late change") {
			t.Errorf("%s: %v", name, err)
		}
		if now := h.state().Resources["b"]; !now.PreventDestroy {
			t.Errorf("%s: not protected any more", name)
		}
	}
}

// lines is one of Concourse's images, whose newest version a test sets.
func lines(newest *int) runnertest.Program {
	return func(_ context.Context, s runner.Spec, stdin io.Reader, stdout, _ io.Writer) int {
		var in struct{ Version map[string]string }
		if !strings.HasSuffix(s.Entrypoint, "/check") || json.NewDecoder(stdin).Decode(&in) != nil {
			return 1
		}
		from, err := strconv.Atoi(in.Version["ref"])
		if err != nil || from > *newest {
			from = *newest
		}
		var all []map[string]string
		for n := from; n <= *newest; n++ {
			all = append(all, map[string]string{"ref": strconv.Itoa(n)})
		}
		_ = json.NewEncoder(stdout).Encode(all)
		return 0
	}
}

// A rollback has the versions of artifacts of the plan that it goes back to, whatever is newest today.
func TestRollback_HasTheVersionsOfThen(t *testing.T) {
	h := newHistory(t)
	newest := 1
	digest := h.fake.Add("lines", lines(&newest))
	h.fake.AddDigest("lines@"+digest, digest, lines(&newest))
	h.fake.AddFiles("lines", "/opt/resource/check", "/opt/resource/in")
	const manifest = `
artifact "site" {
  type   = "lines"
  source = { uri = "x" }
}
resource "a" {
  type   = "thing"
  config = { id = "a", ref = artifact.site.version.ref }
}
`
	back := h.apply(manifest)
	newest = 3
	h.apply(manifest)
	if !strings.Contains(h.things["a"], `"ref":"3"`) {
		t.Fatalf("the newest version is not applied: %v", h.things)
	}
	report, err := h.Apply(t.Context(), ApplyOptions{Back: &back, Approval: approval.Options{Auto: true}})
	if err != nil || report.Status != apply.OK || !strings.Contains(h.things["a"], `"ref":"1"`) {
		t.Fatalf("%+v, %v, %v", report, err, h.things)
	}
}
