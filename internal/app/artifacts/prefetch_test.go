package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/artifact/artifacttest"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan"
	"deployster/plan/artifacts"
	"deployster/plan/change"
	"deployster/state"
)

// crowd is a Store in which nobody gets files before so many want some at one time.
type crowd struct {
	artifact.Store
	enough chan struct{} // closed when there are so many

	mu                 sync.Mutex
	of, now, most, all int
}

// Fetch implements artifact.Store.
func (c *crowd) Fetch(ctx context.Context, o artifact.Order) (artifact.Held, error) {
	c.mu.Lock()
	c.now, c.all = c.now+1, c.all+1
	if c.now > c.most {
		if c.most = c.now; c.most == c.of {
			close(c.enough)
		}
	}
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.now--
		c.mu.Unlock()
	}()
	select {
	case <-c.enough:
	case <-time.After(time.Minute):
		return artifact.Held{}, errors.New("nobody else wants files")
	}
	return c.Store.Fetch(ctx, o)
}

// fetching is a Client, and a plan whose resources each mount an artifact of the second
// protocol, in version 1.
func fetching(t *testing.T, w *artifacttest.World, n int, over func(artifact.Store) artifact.Store) (*Client, *plan.Plan) {
	t.Helper()
	w.AddImage("line", artifact.Artifacts2)
	info, err := w.Info(t.Context(), artifact.Target{Reference: "line"})
	if err != nil {
		t.Fatal(err)
	}
	pins, p := map[string]artifacts.Pin{}, &plan.Plan{Resources: map[string]*plan.Step{}}
	for i := range n {
		name, source := fmt.Sprintf("a%d", i), json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))
		one := artifact.Versioned{Space: "main", Version: artifact.Version{"ref": "1"}}
		w.Change(string(source), func(l *artifacttest.Line) { l.Spaces["main"] = []artifact.Versioned{one} })
		pin := artifacts.Pin{Pin: state.Pin{Name: name, Type: "line", Recipe: artifact.NewRecipe(info, runner.Settings{}, source, nil, one)}, Info: info}
		if pin.Key, err = pin.Recipe.Key(); err != nil {
			t.Fatal(err)
		}
		pins[name] = pin
		p.Resources["r"+name] = &plan.Step{Mounts: []runner.Mount{{Source: artifact.MountSource(pin.Key, "")}}, Part: &change.Create{}}
	}
	p.Artifacts = pins
	m, diags := config.Load(config.Sources{Workspace: "/w", Dir: "/w"}, nil, config.Builtins{Version: "0.1.0", Home: "/"})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return New(Options{Client: w, Store: over(artifacttest.NewStore(t.TempDir(), w)), Manifest: m,
		Pins: func() map[string]artifacts.Pin { return pins }}), p
}

func TestPrefetch_FetchesFourAtATime(t *testing.T) {
	w, c := artifacttest.NewWorld(), (*crowd)(nil)
	f, p := fetching(t, w, 9, func(s artifact.Store) artifact.Store {
		c = &crowd{Store: s, of: 4, enough: make(chan struct{})}
		return c
	})
	if err := f.Prefetch(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if c.most != 4 || c.all != 9 {
		t.Errorf("%d were fetched, at most %d concurrently; want 9 and 4", c.all, c.most)
	}
}

func TestPrefetch_VersionIsGone(t *testing.T) {
	w := artifacttest.NewWorld()
	f, p := fetching(t, w, 2, func(s artifact.Store) artifact.Store { return s })
	w.Change(`{"n":1}`, func(l *artifacttest.Line) {
		l.Spaces["main"] = []artifact.Versioned{{Space: "main", Version: artifact.Version{"ref": "2"}}}
	})
	err := f.Prefetch(t.Context(), p)
	d := diag.From("", err)
	if len(d) != 1 || d[0].Summary != "plan is stale: a version no longer exists" || !strings.Contains(d[0].Detail, "ra1 needs "+
		"artifact.a1, version 1,") {
		t.Errorf("got %v", err)
	}
}

// Files of a version may differ each time they are fetched, such as packs of git: that is said,
// and is no error.
func TestPrefetch_ReportsOtherFiles(t *testing.T) {
	w := artifacttest.NewWorld()
	f, p := fetching(t, w, 3, func(s artifact.Store) artifact.Store { return s })
	var told []string
	f.o.Warn = func(d *diag.Diagnostic) { told = append(told, d.Address+": "+d.Summary) }
	for name, tree := range map[string]string{"a0": "sha256:other", "a1": ""} { // of a1 the plan had no files
		pin := p.Artifacts[name]
		pin.Tree = tree
		p.Artifacts[name] = pin
	}
	pin := p.Artifacts["a2"]
	held, err := f.o.Store.Fetch(t.Context(), pin.Order(config.Artifact{Name: "a2", TypeRef: "line"}))
	if err != nil || held.Tree == "" {
		t.Fatal(held, err)
	}
	pin.Tree = held.Tree
	p.Artifacts["a2"] = pin
	if err := f.Prefetch(t.Context(), p); err != nil || len(told) != 1 || told[0] != "artifact.a0: Other files than for the plan" {
		t.Errorf("%q, %v", told, err)
	}
}

// The inputs of a publish are here before anything is run, also through a plug; those of one
// that is not put are not fetched.
func TestPrefetch_FetchesInputsOfPublishes(t *testing.T) {
	for kind, want := range map[plan.Change]string{plan.Publish: "a0 a1", plan.Valid: ""} {
		w := artifacttest.NewWorld()
		f, p := fetching(t, w, 3, func(s artifact.Store) artifact.Store { return s })
		p.Resources = map[string]*plan.Step{address: {Part: change.New(kind)}}
		f.plugs["files"] = config.Plug{Name: "files", Artifact: "a1"}
		f.publishes[address] = &config.Resource{Address: address, Publish: &config.Publish{
			Inputs: []config.PublishInput{{Name: "one", Artifact: "a0"}, {Name: "two", Plug: "files"}}}}
		w.TakeLog()
		if err := f.Prefetch(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		var got []string
		for name, pin := range p.Artifacts {
			if _, here := f.o.Store.Look(pin.Key); here {
				got = append(got, name)
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q were fetched, want %s", kind, got, want)
		}
	}
}

// What was made with a version that its source has lost can be neither asked nor destroyed with its
// files: the error says which version that is, and how to do without.
func TestMounted_TheSourceHasLostTheVersion(t *testing.T) {
	w := artifacttest.NewWorld()
	f, p := fetching(t, w, 2, func(s artifact.Store) artifact.Store { return s })
	f.o.Prior.Pins = map[string]state.Pin{}
	for _, pin := range p.Artifacts {
		f.o.Prior.Pins[pin.Key] = pin.Pin
	}
	ask := func(name string) string {
		mounts := []runner.Mount{{Source: artifact.MountSource(p.Artifacts[name].Key, "")}}
		_, err := f.Mounted(t.Context(), typeclient.Target{Address: "web", Mounts: mounts})
		if err == nil {
			return ""
		}
		d := diag.From("", err)[0]
		return d.Address + "|" + d.Summary + "|" + d.Detail
	}
	w.Change(`{"n":0}`, func(l *artifacttest.Line) {
		l.Spaces["main"] = []artifact.Versioned{{Space: "main", Version: artifact.Version{"ref": "2"}}}
	})
	if got := ask("a0"); strings.Contains(got, "-exclude") {
		t.Errorf("the manifest asks for it: %s", got)
	}
	f.o.Pins = func() map[string]artifacts.Pin { return nil } // all are of before
	got := ask("a0")
	for _, want := range []string{"web|A version of artifact.a0 is needed and cannot be fetched|", "resource.web was made with version 1,",
		"its source no longer has that", "1 is not there", "-exclude=web", "destroy = false"} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in %s", want, got)
		}
	}
	if got := ask("a1"); got != "" {
		t.Errorf("its source has it: %s", got)
	}
}
