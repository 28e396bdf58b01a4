//go:build linux && amd64

package crash_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"deployster/apply"
	"deployster/config"
	appartifacts "deployster/internal/app/artifacts"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/artifact/artifacttest"
	filestore "deployster/internal/runtime/artifact/store"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/testkit/crash"
	"deployster/plan"
	"deployster/plan/artifacts"
	"deployster/state"
	"deployster/state/actions"
)

// subjectPublish makes the subject one that publishes: the image of its publish.
const subjectPublish = "DEPLOYSTER_CRASH_PUBLISH"

// published is the one publish of the subject.
const published = "publish.release"

// lines is a world of two artifacts: "site", whose files are put, and "out", whose versions
// are the puts in a log.
type lines struct {
	*artifacttest.World
	log world
}

func newLines(log string) (*lines, error) {
	l := &lines{World: artifacttest.NewWorld(), log: world{path: log}}
	l.AddImage("test/v1:1", artifact.Concourse1)
	l.AddImage("test/v2:1", artifact.Artifacts2)
	l.Change(`{"n":"site"}`, func(line *artifacttest.Line) {
		line.Default, line.Spaces["main"] = "main", []artifact.Versioned{{Space: "main", Version: artifact.Version{"ref": "files"}}}
	})
	list, err := effects(log)
	for _, e := range list {
		err = errors.Join(err, l.list(e.Config))
	}
	return l, err
}

// list adds a version that was put.
func (l *lines) list(params json.RawMessage) error {
	var v artifact.Versioned
	if err := json.Unmarshal(params, &v); err != nil {
		return err
	}
	l.Change(`{"n":"out"}`, func(line *artifacttest.Line) {
		line.Default, line.Spaces[v.Space] = v.Space, append(line.Spaces[v.Space], v)
	})
	return nil
}

// Put implements artifact.Client: what is put is a line in the log, before its end is reported.
func (l *lines) Put(_ context.Context, _ artifact.Target, _ artifact.Info, in artifact.PutInput) (artifact.Put, error) {
	dir, err := os.MkdirTemp("", "put") // not a place where it is killed
	if err != nil {
		return artifact.Put{}, err
	}
	defer os.RemoveAll(dir)
	if err := in.Fill(dir); err != nil {
		return artifact.Put{}, err
	}
	if _, err := os.Stat(filepath.Join(dir, "site", "version")); err != nil {
		return artifact.Put{}, err
	}
	var v artifact.Versioned
	err = errors.Join(json.Unmarshal(in.Params, &v), l.log.append(effect{Key: in.ID, Action: artifact.StepPut, Name: published, Config: in.Params}),
		l.list(in.Params))
	if err != nil {
		err = &artifact.Error{Class: artifact.Failed, Err: err}
		return artifact.Put{}, errors.Join(err, in.Ended(artifact.Put{}, runner.Result{ExitCode: 7}, err))
	}
	p := artifact.Put{Created: []artifact.Versioned{v}}
	return p, in.Ended(p, runner.Result{}, nil)
}

// publishing plans the manifest and applies the plan, as the tool does with artifacts.
func publishing(dir, manifest, log string) error {
	ctx := context.Background()
	source, err := os.ReadFile(manifest)
	if err != nil {
		return err
	}
	m, diags := config.Load(config.Sources{Workspace: dir, Dir: dir, Manifests: []config.File{{Path: "main.hcl", Bytes: source}}}, nil,
		config.Builtins{Version: "0.1.0", Workspace: dir})
	if diags.HasErrors() {
		return diags
	}
	store, err := state.Open(ctx, state.File(filepath.Join(dir, "state.json")), state.Options{Command: "subject"})
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	prior := store.Snapshot()
	if said := actions.Verdict(os.Getenv(subjectHold)); said != "" { // a person has looked
		return store.Replace(prior.Judged(published, said))
	}
	client, err := newLines(log)
	if err != nil {
		return err
	}
	files := filestore.New(filestore.Options{Dir: filepath.Join(dir, "artifacts"), Client: client, Command: "subject"})
	defer func() { _ = files.Close() }()
	types := typeclient.New(typeclient.Options{Runner: runnertest.NewFake(), Version: "0.1.0", Workspace: dir, Backoff: []time.Duration{}})
	resolver := artifacts.New(artifacts.Options{Client: client, Store: files, Declared: m.Artifacts(), Recorded: prior.Artifacts})
	f := appartifacts.New(appartifacts.Options{Types: types, Client: client, Store: files, Manifest: m, Prior: prior, Pins: resolver.Pins})
	names, err := appartifacts.Wanted(m, func(string) bool { return true }, true)
	if err = errors.Join(err, resolver.All(ctx, names, 1)); err != nil {
		return err
	}
	if m, diags = m.WithArtifacts(artifacts.Values(resolver.Pins())); diags.HasErrors() {
		return diags
	}
	p, diags := plan.Build(ctx, m, prior, f, plan.Options{Version: "0.1.0", Workspace: dir, Parallelism: 1, Now: time.Now(), Artifacts: resolver})
	if diags.HasErrors() {
		return diags
	}
	for _, r := range p.Resources[published].Answer().Reasons {
		fmt.Printf("because: %s\n", r.Message)
	}
	if err := f.Prefetch(ctx, p); err != nil {
		return err
	}
	journal, err := store.Begin(p.ID, p.Lineage)
	if err != nil {
		return err
	}
	f.Record(journal)
	pins := map[string]state.Pin{}
	for _, pin := range p.Artifacts {
		pins[pin.Key] = pin.Pin
	}
	if err := journal.Pins(pins); err != nil {
		return err
	}
	report, err := apply.Run(ctx, p, m, prior, acknowledged{journal}, f, apply.Options{Parallelism: 1, Now: time.Now})
	if err == nil && report.Status != apply.OK {
		err = diag.Diagnostics(report.Problems)
	}
	if err != nil {
		return errors.Join(err, journal.Finish(state.StatusError))
	}
	use := map[string]state.Artifact{}
	for name, pin := range p.Artifacts {
		use[name] = pin.Recorded(time.Now())
	}
	err = errors.Join(journal.Artifacts(use), journal.Finish(state.StatusOK))
	if err == nil {
		fmt.Println("finished")
	}
	return err
}

// publish runs the subject that publishes a version, with a fault. A verdict is what a
// person says of the last put, instead.
func (a *arena) publish(image, ref string, at crash.Point, verdict actions.Verdict) outcome {
	a.t.Helper()
	p := a.program(nil)
	defer p.Output.Close()
	text := fmt.Sprintf("artifact \"site\" {\n  type = \"test/v2:1\"\n  source = { n = \"site\" }\n}\nartifact \"out\" {\n  type = \"test/%s:1\"\n"+
		"  source = { n = \"out\" }\n}\npublish \"release\" {\n  artifact = artifact.out\n  params = { space = %q, version = { ref = %q } }\n"+
		"  inputs = { site = artifact.site }\n  fetch = %v\n}\noutput \"released\" {\n  value = publish.release.version.ref\n}\n",
		image, map[string]string{"v1": "", "v2": "main"}[image], ref, image == "v2")
	if err := os.WriteFile(p.Args[2], []byte(text), 0o600); err != nil {
		a.t.Fatal(err)
	}
	p.Env = append(p.Env, subjectPublish+"="+image, subjectHold+"="+string(verdict))
	return a.trace(p, at)
}

// puts counts how often a version was put.
func (a *arena) puts(ref string) (n int) {
	a.t.Helper()
	list, err := effects(a.log)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, e := range list {
		if strings.Contains(string(e.Config), `"ref":"`+ref+`"`) {
			n++
		}
	}
	return n
}

// afterPut looks at what the next run makes of a put that was hit at a point: it is never
// repeated in silence, nor lost, and what nobody can know is an error until a person says it.
func (a *arena) afterPut(image string) (faults []string) {
	a.t.Helper()
	say := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	before := a.puts("2")
	next := a.publish(image, "2", crash.Point{}, "")
	const unknown, repeated = "The outcome of a put is unknown", "put again: the outcome of the last one is unknown"
	const perhaps = "it may have published all the same"
	if next.Exit != 0 && image == "v1" && strings.Contains(next.output, unknown) {
		if n := a.puts("2"); n != before {
			say("duplicate: it was put %d times, and the end is not known", n)
		}
		said := map[bool]actions.Verdict{true: actions.Done, false: actions.Failed}[before > 0]
		if o := a.publish(image, "2", crash.Point{}, said); o.Exit != 0 {
			say("the verdict of a person was not taken: %s", o.output)
		}
		next = a.publish(image, "2", crash.Point{}, "")
	}
	if next.Exit != 0 {
		say("the run after it failed: %s", next.output)
		return faults
	}
	switch n := a.puts("2"); {
	case n == 0:
		say("lost: the put")
	case n > 1 && (n > 2 || !strings.Contains(next.output, map[string]string{"v1": perhaps, "v2": repeated}[image])):
		say("duplicate: it was put %d times: %s", n, next.output)
	}
	s, recovery, err := state.Load(state.File(filepath.Join(a.dir, "state.json")), ring(a.identity))
	switch {
	case err != nil:
		say("torn: %v", err)
	case recovery != nil || len(s.Unsettled) > 0:
		say("lost: that the run had ended")
	case !strings.Contains(string(s.Resources[published].State), `"ref":"2"`):
		say("lost: what was put is recorded as %s", s.Resources[published].State)
	case strings.Contains(string(s.Resources[published].State), `"tree":"sha256:`) != (image == "v2"):
		say("lost: what was put and fetched is recorded as %s", s.Resources[published].State)
	case s.Artifacts["site"].Recipe.Version["ref"] != "files":
		say("lost: the artifacts in use: %+v", s.Artifacts)
	}
	return append(faults, a.damaged()...)
}

// damaged looks at the files of artifacts that are kept.
func (a *arena) damaged() (faults []string) {
	a.t.Helper()
	files := filestore.New(filestore.Options{Dir: filepath.Join(a.dir, "artifacts"), Client: artifacttest.NewWorld(), Command: "test"})
	damage, err := files.Verify(a.t.Context())
	if err = errors.Join(err, files.Close()); err != nil {
		a.t.Fatal(err)
	}
	for _, d := range damage {
		faults = append(faults, fmt.Sprintf("torn: %s: %s", d.Entry.Name, d.Reason))
	}
	entries, err := os.ReadDir(filepath.Join(a.dir, "artifacts"))
	if err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasSuffix(e.Name(), ".draft") }) {
		faults = append(faults, fmt.Sprintf("left: a draft: %v, %v", entries, err))
	}
	return faults
}

// putBefore makes the state that all begin with: another version was put, and the files of
// the artifact are not here any more.
func (a *arena) putBefore(image string) (start string) {
	a.t.Helper()
	if o := a.publish(image, "1", crash.Point{}, ""); o.Exit != 0 {
		a.t.Fatal(o.output)
	}
	if err := os.RemoveAll(filepath.Join(a.dir, "artifacts")); err != nil {
		a.t.Fatal(err)
	}
	return a.save("start")
}

// TestPublish_KilledAtEachCall ends a subject that fetches an artifact and publishes it
// before each call that touches a file, and lets another one go on.
func TestPublish_KilledAtEachCall(t *testing.T) {
	t.Parallel()
	for _, image := range []string{"v1", "v2"} {
		t.Run(image, func(t *testing.T) {
			t.Parallel()
			a := newArena(t, 1)
			start := a.putBefore(image)
			if faults := a.afterPut(image); len(faults) > 0 {
				t.Fatalf("without any fault: %v", faults)
			}
			points, unknown := 0, 0
			for at := 1; ; at++ {
				a.reset(start)
				o := a.publish(image, "2", crash.Point{At: at}, "")
				if o.Hit == nil {
					break
				}
				points++
				for _, f := range a.afterPut(image) {
					t.Errorf("killed before call %d (%s): %s", at, o.Hit, f)
				}
				unknown += a.puts("2") - 1
			}
			t.Logf("%d points; put again at %d of them, and that was said", points, unknown)
			if points < 30 {
				t.Errorf("only %d points", points)
			}
		})
	}
}

// TestPublish_DiskFaultAtEachCall lets each of these calls fail.
func TestPublish_DiskFaultAtEachCall(t *testing.T) {
	t.Parallel()
	for i, errno := range []syscall.Errno{syscall.EIO, syscall.ENOSPC} {
		t.Run(errno.Error(), func(t *testing.T) {
			t.Parallel()
			a := newArena(t, 1)
			start := a.putBefore("v1")
			points := 0
			for at := 1 + i%sample(3, 1); ; at += sample(3, 1) {
				a.reset(start)
				o := a.publish("v1", "2", crash.Point{At: at, Errno: errno}, "")
				if o.Hit == nil {
					break
				}
				points++
				for _, f := range a.afterPut("v1") {
					t.Errorf("%s fails: %s", o.Hit, f)
				}
			}
			if points < 10 {
				t.Errorf("only %d points", points)
			}
		})
	}
}
