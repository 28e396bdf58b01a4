package watching

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deployster/apply"
	"deployster/internal/app"
	"deployster/internal/app/approval"
	"deployster/internal/app/repairs"
	"deployster/internal/app/watch"
	"deployster/internal/app/workspace"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/ui/events"
	"deployster/protocol"
	"deployster/state/actions"
)

// world has the things of a type. A thing gets another number each time it is made, and the
// type tells of changes.
type world struct {
	dir    string
	engine *app.Engine

	mu      sync.Mutex // guards what follows
	things  map[string]thing
	numbers int
	dumb    map[string]bool // things of which nothing can be asked
	watched []string        // a thing and the config with which a process watches it, in order
	lines   []string        // for people
	acting  func(name string)
}

type thing struct {
	config string
	number int
}

// newWorld returns one in which a manifest was applied.
func newWorld(t *testing.T, manifest string) *world {
	t.Helper()
	w := &world{dir: t.TempDir(), things: map[string]thing{}, dumb: map[string]bool{}, acting: func(string) {}}
	fake := runnertest.NewFake()
	fake.Add("thing", w.program)
	w.engine = app.New(app.Options{Workspace: workspace.Options{Dir: w.dir, Version: "test"},
		Open: func(context.Context) (app.Runtime, error) { return runnertest.Runtime{Fake: fake}, nil }})
	t.Cleanup(w.engine.Close)
	w.declare(t, manifest)
	w.apply(t)
	return w
}

// apply applies what is declared.
func (w *world) apply(t *testing.T) {
	t.Helper()
	report, err := w.engine.Apply(t.Context(), app.ApplyOptions{Approval: approval.Options{Auto: true}})
	if err != nil || report.Status != apply.OK {
		t.Fatalf("%+v, %v", report, err)
	}
}

func (w *world) declare(t *testing.T, manifest string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, "main.hcl"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
}

// set changes the world behind everybody's back.
func (w *world) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

// program is the type.
func (w *world) program(ctx context.Context, s runner.Spec, stdin io.Reader, stdout, _ io.Writer) int {
	if len(s.Args) == 0 {
		_, _ = io.WriteString(stdout, `{"protocol":2,"state_action":{"args":["state"]},"watch_action":{"args":["watch"]}}`)
		return 0
	}
	var in protocol.ActionInput
	if err := json.NewDecoder(stdin).Decode(&in); err != nil {
		return 90
	}
	w.mu.Lock()
	have, there := w.things[in.Name]
	dumb, acting := w.dumb[in.Name], w.acting
	if s.Args[0] == "watch" {
		w.watched = append(w.watched, in.Name+" "+string(in.Config))
	}
	w.mu.Unlock()
	switch {
	case s.Args[0] == "watch":
		_, _ = io.WriteString(stdout, "{}\n")
		_, _ = io.Copy(io.Discard, stdin)
	case s.Args[0] == "make":
		acting(in.Name)
		w.set(func() { w.numbers++; w.things[in.Name] = thing{string(in.Config), w.numbers} })
	case dumb:
		return 1
	case there && have.config == string(in.Config):
		_, _ = fmt.Fprintf(stdout, `{"status":"VALID","state":{"number":%d}}`, have.number)
	case there:
		_, _ = fmt.Fprintf(stdout, `{"status":"STALE","staleState":{"number":%d},"actions":[{"name":"make","args":["make"]}]}`, have.number)
	default:
		_, _ = io.WriteString(stdout, `{"status":"STALE","actions":[{"name":"make","args":["make"]}]}`)
	}
	return 0
}

// watch watches the world until the end of the test.
func (w *world) watch(t *testing.T, o Options) {
	t.Helper()
	stop, ended := w.begin(t, o)
	t.Cleanup(func() { stop(); <-ended })
	w.await(t, "watching ")
}

// begin watches the world until it is stopped, or the options say.
func (w *world) begin(t *testing.T, o Options) (stop context.CancelFunc, ended chan watch.End) {
	t.Helper()
	poll := 50 * time.Millisecond
	o.Poll, o.Parallelism, o.Record = &poll, 2, func() Recording {
		return Recording{Run: "r", Records: none{}, Send: func(events.Event) {}, End: func(apply.Status) {}}
	}
	o.Print = func(format string, args ...any) {
		w.set(func() { w.lines = append(w.lines, fmt.Sprintf(format, args...)) })
	}
	o.Show = func(func() string) func() { return func() {} }
	ctx, stop := context.WithCancel(t.Context())
	ended = make(chan watch.End, 1)
	go func() {
		end, _, err := Run(ctx, w.engine, o)
		if err != nil {
			t.Error(err)
		}
		ended <- end
	}()
	return stop, ended
}

// none keeps no records.
type none struct{}

func (none) Applies(string, []string, []actions.Override) {}
func (none) Begin()                                       {}
func (none) Add(typeclient.Invocation)                    {}
func (none) Report([]byte)                                {}

// await waits for a line for people.
func (w *world) await(t *testing.T, text string) {
	t.Helper()
	w.until(t, text, func() bool {
		return slices.ContainsFunc(w.lines, func(line string) bool { return strings.Contains(line, text) })
	})
}

// until waits until something is so; the world is not changed while that is found out.
func (w *world) until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		w.mu.Lock()
		is := so()
		w.mu.Unlock()
		if is {
			return
		}
		if time.Now().After(end) {
			w.mu.Lock()
			defer w.mu.Unlock()
			t.Fatalf("waited in vain for: %s\n%s%v", what, strings.Join(w.lines, ""), w.watched)
		}
	}
}

// keeper returns a Keeper for the engine of the world.
func (w *world) keeper(t *testing.T) repairs.Keeper {
	t.Helper()
	m, err := w.engine.Machine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return repairs.Keeper{Command: w.engine.Command(), Machine: m}
}
