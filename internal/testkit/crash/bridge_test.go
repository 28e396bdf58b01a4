//go:build linux && amd64

package crash_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"deployster/apply"
	"deployster/config"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/runtime/runner/worker"
	"deployster/internal/testkit/fakeapi"
	"deployster/plan"
	"deployster/state"
	"deployster/state/actions"
)

// workshop applies things of a fake API by the bridge, whose processes are killed. It is
// the engine with its state on disk and its workers; only the containers are missing.
type workshop struct {
	t      *testing.T
	api    *fakeapi.Service
	random *rand.Rand
	dir    string
	bridge string
	fake   *runnertest.Fake
	client *typeclient.Client
	pool   *worker.Pool
	adopt  map[string]string // the ids of things that a person has found
	gone   map[string]bool   // the ids of things that are remembered where a person said that nothing is there

	mu        sync.Mutex // guards what follows
	processes map[int]*exec.Cmd
	count     struct{ kills, idle, unsettled, happened, applied int }
}

func newWorkshop(t *testing.T, seed uint64) *workshop {
	dir := t.TempDir()
	w := &workshop{t: t, api: fakeapi.New(t, seed, 6*time.Millisecond), random: rand.New(rand.NewPCG(seed, 2)), dir: dir,
		bridge: filepath.Join(dir, "bridge"), fake: runnertest.NewFake(), adopt: map[string]string{}, gone: map[string]bool{},
		processes: map[int]*exec.Cmd{}}
	for out, what := range map[string]string{w.bridge: ".", w.provider(): "./internal/testprovider/terraform-provider-test"} {
		cmd := exec.Command("go", "build", "-o", out, what)
		cmd.Dir = "../../../bridge"
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s cannot be built: %v: %s", what, err, text)
		}
	}
	w.fake.Add("tf/test:1", w.program)
	w.client = typeclient.New(typeclient.Options{Runner: current{w}, Version: "0.1.0", Workspace: dir, Backoff: []time.Duration{}})
	return w
}

func (w *workshop) provider() string { return filepath.Join(w.dir, "provider") }

// current is the pool of workers of this apply.
type current struct{ *workshop }

func (c current) Resolve(ctx context.Context, reference string) (runner.Image, error) {
	name, _, _ := strings.Cut(reference, "#")
	return c.fake.Resolve(ctx, name)
}

func (c current) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	return c.pool.Run(ctx, s)
}

// program is the image: the bridge in a process of its own.
func (w *workshop) program(_ context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
	cmd := exec.Command(w.bridge, s.Args...)
	cmd.Env = append(os.Environ(), "DEPLOYSTER_TF_PROVIDER="+w.provider(), "TMPDIR="+w.dir)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return 126
	}
	go func() {
		_, _ = io.Copy(in, stdin) // it may die over it
		_ = in.Close()
	}()
	w.mu.Lock()
	w.processes[cmd.Process.Pid] = cmd
	w.mu.Unlock()
	_ = cmd.Wait() // the exit code says it
	w.mu.Lock()
	delete(w.processes, cmd.Process.Pid)
	w.mu.Unlock()
	return cmd.ProcessState.ExitCode()
}

// kill kills the bridge, its provider, or both. It reports whether there was anything.
func (w *workshop) kill(victim int) (killed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for pid, cmd := range w.processes {
		for _, child := range children(pid) {
			if victim != 0 && syscall.Kill(child, syscall.SIGKILL) == nil {
				killed = true
			}
		}
		if victim != 1 && cmd.Process.Kill() == nil {
			killed = true
		}
	}
	return killed
}

func children(pid int) (list []int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range tasks {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(field); err == nil {
				list = append(list, n)
			}
		}
	}
	return list
}

// manifest declares things, each second one after the one before it.
func (w *workshop) manifest(declared map[string]string) *config.Manifest {
	w.t.Helper()
	var b strings.Builder
	names := slices.Sorted(maps.Keys(declared))
	for i, label := range names {
		adopt, after := "", ""
		if id := w.adopt[label]; id != "" {
			adopt = fmt.Sprintf(", import = %q", id)
		}
		if i%2 == 1 {
			after = fmt.Sprintf("  depends_on = [resource.%s]\n", names[i-1])
		}
		fmt.Fprintf(&b, "resource %q {\n  type = \"tf/test:1#test_object\"\n  config = { label = %q, value = %q, provider = { world = %q }%s }\n%s}\n",
			label, label, declared[label], w.api.URL, adopt, after)
	}
	src := config.Sources{Workspace: w.dir, Dir: w.dir, Manifests: []config.File{{Path: "main.hcl", Bytes: []byte(b.String())}}}
	m, diags := config.Load(src, nil, config.Builtins{Version: "0.1.0", Workspace: w.dir})
	if diags.HasErrors() {
		w.t.Fatal(diags)
	}
	return m
}

// apply plans and applies once. The report says how that ended, and is nil where the plan failed.
func (w *workshop) apply(declared map[string]string) (*apply.Report, error) {
	w.t.Helper()
	m := w.manifest(declared)
	store, err := state.Open(w.t.Context(), state.File(filepath.Join(w.dir, "state.json")), state.Options{Command: "test"})
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			w.t.Error(err)
		}
	}()
	w.pool = worker.New(worker.Options{Runner: w.fake, Launcher: w.fake, Max: 1, Grace: 5 * time.Second})
	defer w.pool.Close()
	p, diags := plan.Build(w.t.Context(), m, store.Snapshot(), w.client, plan.Options{Version: "0.1.0", Workspace: w.dir, Parallelism: 4,
		InWorkers: 8, Now: time.Now()})
	if diags.HasErrors() {
		return nil, diags
	}
	journal, err := store.Begin(p.ID, p.Lineage)
	if err != nil {
		w.t.Fatal(err)
	}
	report, err := apply.Run(w.t.Context(), p, m, store.Snapshot(), journal, w.client,
		apply.Options{Parallelism: 4, InWorkers: 8, KeepGoing: true, Now: time.Now})
	if err != nil {
		w.t.Fatal(err)
	}
	status := state.StatusOK
	if report.Status != apply.OK {
		status = state.StatusError
	}
	if err := journal.Finish(status); err != nil {
		w.t.Fatal(err)
	}
	return report, nil
}

// killedApply applies, and kills something at some moment of it.
func (w *workshop) killedApply(declared map[string]string) (said string) {
	victim, anytime, asks := w.random.IntN(3), w.random.IntN(8) == 0, 1+w.random.IntN(5)
	after := time.Duration(w.random.Int64N(int64(9 * time.Millisecond)))
	if anytime {
		after = time.Duration(w.random.Int64N(int64(150 * time.Millisecond)))
	}
	ended, killed := make(chan struct{}), make(chan bool, 1)
	until := w.api.Asked() + asks
	go func() {
		for !anytime && w.api.Asked() < until {
			select {
			case <-ended:
				killed <- false
				return
			case <-time.After(200 * time.Microsecond):
			}
		}
		select {
		case <-ended:
			killed <- false
		case <-time.After(after):
			killed <- w.kill(victim)
		}
	}()
	report, err := w.apply(declared)
	close(ended)
	if <-killed {
		w.count.kills++
	} else {
		w.count.idle++
	}
	if err != nil {
		return err.Error()
	}
	if w.count.applied++; report.Status == apply.OK {
		return ""
	}
	return fmt.Sprint(report.Problems)
}

// account holds what the fake API has to what is remembered and what is not settled, and
// gives what is not settled.
func (w *workshop) account() (open []string, faults []string) {
	w.t.Helper()
	w.api.Quiet(w.t)
	s, _, err := state.Load(state.File(filepath.Join(w.dir, "state.json")), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	remembered := map[string]string{}
	for addr, e := range s.Resources {
		if id := w.id(e); id != "" {
			remembered[id] = addr
		}
	}
	unsettled := map[string][]string{}
	for addr, u := range s.Unsettled {
		if names := u.Names(); len(names) > 0 {
			unsettled[addr] = names
		}
	}
	there, seen := w.api.Things(), map[string]int{}
	for id, is := range there {
		label, _, _ := strings.Cut(is, "=")
		switch _, known := remembered[id]; {
		case seen[label] > 0:
			faults = append(faults, label+" is there twice")
		case !known && !slices.Contains(unsettled[label], "create"):
			faults = append(faults, fmt.Sprintf("%s (%s) is lost: it is neither remembered nor unsettled", id, is))
		}
		seen[label]++
	}
	made := map[string]bool{}
	for id, addr := range remembered {
		made[addr] = there[id] != ""
		if there[id] == "" && len(unsettled[addr]) == 0 && !w.gone[id] {
			faults = append(faults, fmt.Sprintf("%s of %s is remembered, and is not there", id, addr))
		}
	}
	for addr, names := range unsettled {
		if slices.Contains(names, "create") && !made[addr] {
			open = append(open, addr)
		}
	}
	slices.Sort(open)
	return open, faults
}

// id is what is remembered of a thing, "" for nothing.
func (w *workshop) id(e state.Entry) string {
	w.t.Helper()
	var m struct{ State struct{ ID string } }
	if len(e.Memory) > 0 {
		if err := json.Unmarshal(e.Memory, &m); err != nil {
			w.t.Fatal(err)
		}
	}
	return m.State.ID
}

// resolve is what a person does about things that may be there.
func (w *workshop) resolve(open []string) {
	w.t.Helper()
	clear(w.adopt)
	var gone []string
	for _, label := range open {
		w.count.unsettled++
		if ids := w.api.By(label); len(ids) > 0 {
			w.count.happened++
			w.adopt[label] = ids[0]
		} else {
			gone = append(gone, label)
		}
	}
	if len(gone) == 0 {
		return
	}
	store, err := state.Open(w.t.Context(), state.File(filepath.Join(w.dir, "state.json")), state.Options{Command: "test"})
	if err != nil {
		w.t.Fatal(err)
	}
	next := store.Snapshot()
	for _, label := range gone {
		next = next.Judged(label, actions.Failed)
		w.gone[w.id(next.Resources[label])] = true
	}
	if err := store.Replace(next); err != nil {
		w.t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// number reads a number from the environment.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s is %q, and must be a number", name, text)
	}
	return n
}

// The bridge, its provider or both are killed while they make, change and remove things
// of a service that chooses ids at random: after each kill the things that are there are
// those that are remembered and those whose creation is not settled, none twice, and who
// goes on comes to what is declared. DEPLOYSTER_BRIDGE_KILLS says how often.
func TestBridge_KilledAnywhere(t *testing.T) {
	t.Parallel()
	most := int(number(t, "DEPLOYSTER_BRIDGE_KILLS", 25))
	seed := number(t, "DEPLOYSTER_BRIDGE_SEED", 1)
	w := newWorkshop(t, seed)
	declared := map[string]string{"a": "1"}
	if _, err := w.apply(declared); err != nil { // what a type is is asked once
		t.Fatal(err)
	}
	var open []string
	next := 500
	for w.count.kills < most {
		old := declared
		declared = map[string]string{}
		for _, label := range []string{"a", "b", "c", "d", "e", "f"} {
			switch {
			case slices.Contains(open, label): // a person looks after it, and may want it changed
				declared[label] = old[label]
				if w.random.IntN(2) == 0 {
					declared[label] = strconv.Itoa(w.random.IntN(3))
				}
			case w.random.IntN(10) < 6:
				declared[label] = strconv.Itoa(w.random.IntN(3))
			}
		}
		said := w.killedApply(declared)
		if w.count.idle > 20+2*w.count.kills {
			t.Fatalf("%+v: it is not killed: %s", w.count, said)
		}
		var faults []string
		if open, faults = w.account(); len(faults) > 0 {
			t.Fatalf("seed %d, kill %d: %v\n%s", seed, w.count.kills, faults, said)
		}
		if w.resolve(open); w.count.kills >= next {
			next += 500
			t.Logf("%+v, %d things were made", w.count, w.api.Made())
		}
	}
	if _, err := w.apply(declared); err != nil {
		t.Error(err)
	}
	if faults := w.api.Wrong(declared); len(faults) > 0 {
		t.Error(faults)
	}
	t.Logf("%d kills and %d applies without one; %d creations were not settled, %d of them had happened; %d things were made",
		w.count.kills, w.count.idle, w.count.unsettled, w.count.happened, w.api.Made())
	if most >= 200 && (w.count.happened == 0 || w.count.unsettled == w.count.happened || w.count.applied < w.count.kills/2) {
		t.Error("it was killed where nothing happens")
	}
}
