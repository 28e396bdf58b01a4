package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
)

func begin(dir, id string) *Recorder {
	hide := strings.NewReplacer("name", "(gone)", "s3cret", "(gone)").Replace
	return New(Options{Workdir: dir, Hide: func() func(string) string { return hide },
		Run: Run{ID: id, Command: "apply", Deployster: "1", Started: time.Now()}})
}

func end(t *testing.T, r *Recorder) {
	t.Helper()
	if err := r.Finish(OK, 0, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

func invocation(address, step, stdout string) typeclient.Invocation {
	return typeclient.Invocation{Address: address, Step: step, Digest: "sha256:d", Started: time.Now(),
		Stdin:  []byte(`{"name":"a name","config":{"x":"s3cret"}}`),
		Result: runner.Result{Stdout: []byte(stdout), Stderr: []byte("with s3cret"), Duration: time.Second}}
}

func TestRuns_AreFoundAgain(t *testing.T) {
	dir := t.TempDir()
	r := begin(dir, "20260101T000000.000Z-aaaaaa")
	if list, err := List(dir); err != nil || len(list) != 0 {
		t.Fatalf("before anything is recorded: %v, %v", list, err)
	}
	r.Add(invocation(`web["a/b"]`, "state", "one"))
	r.Add(invocation(`web["a/b"]`, "state", "two"))
	r.Add(invocation(`web["a/b"]`, "state-2", "an action that is named like that"))
	killed := invocation("db", "-rf ../x", "")
	killed.Err = errors.New("killed by s3cret")
	r.Add(killed)
	r.Report([]byte("{}\n"))
	if list, _ := List(dir); len(list) != 1 || list[0].Status != Running {
		t.Errorf("while it is at work: %+v", list)
	}
	end(t, r)
	run, err := Find(dir, "latest")
	if err != nil || run.Status != OK || *run.ExitCode != 0 || run.Recorded != 4 || run.Command != "apply" {
		t.Fatalf("%+v, %v", run, err)
	}
	steps, err := run.Steps(`web["a/b"]`)
	if err != nil || len(steps) != 3 {
		t.Fatalf("%+v, %v", steps, err)
	}
	for i, want := range []string{"one", "two", "an action that is (gone)d like that"} {
		got, err := steps[i].Read(Stdout)
		if err != nil || string(got) != want || *steps[i].ExitCode != 0 || steps[i].Took != 1 {
			t.Errorf("%d: %q, %v, %+v", i, got, err, steps[i])
		}
	}
	if sent, _ := steps[0].Read(Stdin); string(sent) != `{"name":"a (gone)","config":{"x":"(gone)"}}` {
		t.Errorf("sent: %s", sent)
	}
	all, err := run.Steps("")
	if err != nil || len(all) != 4 || all[3].ExitCode != nil || all[3].Problem != "killed by (gone)" ||
		filepath.Clean(all[3].Path()) != all[3].Path() {
		t.Errorf("%+v, %v", all, err)
	}
	if report, err := run.Report(); err != nil || string(report) != "{}\n" {
		t.Errorf("%q, %v", report, err)
	}
	_ = filepath.WalkDir(Dir(dir), func(path string, e os.DirEntry, err error) error {
		info, _ := os.Lstat(path)
		if err != nil || info.Mode().Perm()&0o077 != 0 && info.Mode()&os.ModeSymlink == 0 && path != Dir(dir) {
			t.Errorf("%s: %s, %v", path, info.Mode(), err)
		}
		return nil
	})
}

// The host of a step is kept, in a file of its own and in a line.
func TestRuns_Hosts(t *testing.T) {
	dir := t.TempDir()
	r := begin(dir, "1")
	for _, host := range []string{"", `web["a"]`} {
		query, action := invocation("web", "state", "{}"), invocation("web", "make", "x")
		query.Host, action.Host, action.Result.ExitCode = host, host, 1
		if host != "" {
			query.Result.Pod, action.Result.Pod = "g-1", "d-1"
		}
		r.Add(query)
		r.Add(action)
	}
	end(t, r)
	run, err := Find(dir, "1")
	if err != nil {
		t.Fatal(err)
	}
	steps, err := run.Steps("")
	if err != nil || len(steps) != 4 {
		t.Fatalf("%+v, %v", steps, err)
	}
	for i, step := range steps {
		text, _ := json.Marshal(step)
		if want := []string{"", "", `web["a"]`, `web["a"]`}[i]; step.Host != want || strings.Contains(string(text), `"host"`) != (want != "") {
			t.Errorf("%d: %s", i, text)
		}
		if want := map[string]string{"state": "g-1", "make": "d-1"}[step.Step]; i > 1 && step.Pod != want || i < 2 && step.Pod != "" {
			t.Errorf("%d: it ran in the Pod %q", i, step.Pod)
		}
	}
}

func TestRuns_Names(t *testing.T) {
	dir := t.TempDir()
	for _, id := range []string{"2026-a1", "2026-a2", "2026-b1"} {
		r := begin(dir, id)
		r.Begin()
		end(t, r)
	}
	for name, want := range map[string]string{"": "2026-b1", "latest": "2026-b1", "2026-a1": "2026-a1", "2026-b": "2026-b1"} {
		t.Run("finds "+name, func(t *testing.T) {
			if run, err := Find(dir, name); err != nil || run.ID != want {
				t.Errorf("%s, %v", run.ID, err)
			}
		})
	}
	for name, fits := range map[string]int{"2026-a": 2, "2025": 0, "..": 0} {
		t.Run("does not find "+name, func(t *testing.T) {
			var missing *NotFoundError
			if _, err := Find(dir, name); !errors.As(err, &missing) || len(missing.Fits) != fits || len(missing.There) != 3 {
				t.Error(err)
			}
		})
	}
	if _, err := Find(t.TempDir(), "latest"); err == nil {
		t.Error("a run where there is none")
	}
}

// A run is not pruned between the moments in which its directory is made and locked.
func TestPrune_RunThatBegins(t *testing.T) {
	dir := t.TempDir()
	made := begin(dir, "2025-beginning").dir
	if err := os.MkdirAll(made, 0o700); err != nil {
		t.Fatal(err)
	}
	if !isRunning(made) {
		t.Error("a run that begins counts as ended")
	}
	long := time.Now().Add(-2 * beginning)
	if err := os.Chtimes(made, long, long); err != nil {
		t.Fatal(err)
	}
	if isRunning(made) {
		t.Error("a directory that nobody locked for long counts as running")
	}
}

// The newest runs are kept; a running one is kept however old it is.
func TestPrune_OldRuns(t *testing.T) {
	dir := t.TempDir()
	old := begin(dir, "2025-running")
	old.Begin()
	dead := begin(dir, "2025-died")
	dead.Begin()
	dead.Close()
	if run, err := Find(dir, "2025-died"); err != nil || run.Status != Died {
		t.Errorf("%+v, %v", run, err)
	}
	var wait sync.WaitGroup
	for i := range 30 { // side by side, as commands are
		wait.Go(func() {
			r := begin(dir, fmt.Sprintf("2026-%02d", i))
			r.Add(invocation("a", "state", ""))
			if err := r.Finish(OK, 0, time.Now()); err != nil {
				t.Error(err)
			}
			r.Close()
		})
	}
	wait.Wait()
	end(t, func() *Recorder { r := begin(dir, "2026-99"); r.Begin(); return r }())
	left, err := names(Dir(dir))
	want := []string{"2026-99"}
	for i := 29; len(want) < Keep; i-- {
		want = append(want, fmt.Sprintf("2026-%02d", i))
	}
	want = append(want, "2025-running")
	if err != nil || !slices.Equal(left, want) {
		t.Errorf("%v, %v", left, err)
	}
	old.Close()
}

// Repairs, of which there may be many each day, push out no run of a person, and the
// last run is a person's.
func TestPrune_RepairsDuringManualChanges(t *testing.T) {
	dir := t.TempDir()
	made := func(id, command string) {
		t.Helper()
		r := New(Options{Workdir: dir, Hide: func() func(string) string { return strings.ToUpper },
			Run: Run{ID: id, Command: command, Started: time.Now()}})
		r.Begin()
		end(t, r)
	}
	made("2025-apply", "apply")
	for i := range KeepRepairs + 5 {
		made(fmt.Sprintf("2026-%03d", i), Watch)
	}
	left, err := names(Dir(dir))
	if err != nil || len(left) != KeepRepairs+1 || !slices.Contains(left, "2025-apply") || slices.Contains(left, "2026-004") {
		t.Errorf("%d are left, %v", len(left), err)
	}
	if latest, err := Find(dir, "latest"); err != nil || latest.ID != "2025-apply" {
		t.Errorf("the latest is %+v, %v", latest.ID, err)
	}
}

func TestPrune_LargeRunsSooner(t *testing.T) {
	dir := t.TempDir()
	for _, id := range []string{"1", "2", "3"} {
		r := begin(dir, id)
		r.Begin()
		r.run.Bytes = KeepBytes*2/3 + 1
		end(t, r)
	}
	if left, err := names(Dir(dir)); err != nil || !slices.Equal(left, []string{"3"}) {
		t.Errorf("%v, %v", left, err)
	}
}

// What cannot be written is an error of Finish, and stops nothing.
func TestRecorder_CannotWrite(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".deployster"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := begin(dir, "1")
	r.Add(invocation("a", "state", ""))
	r.Report(nil)
	if w, err := r.Events(); err == nil {
		t.Error(w)
	}
	if err := r.Finish(OK, 0, time.Now()); err == nil || strings.Count(err.Error(), "not a directory") != 1 {
		t.Errorf("one cause, told once: %v", err)
	}
	r.Close()
}

// Of a large run what matters is recorded: what was made valid, what failed,
// what was logged.
func TestRecorder_LargeRunsLeaveOutValidAnswers(t *testing.T) {
	dir := t.TempDir()
	r := begin(dir, "1")
	quiet := func(i int, answer string) typeclient.Invocation {
		in := invocation(fmt.Sprintf("r%d", i), "state", answer)
		in.Result.Stderr = nil
		return in
	}
	const valid, stale = `{"status":"VALID","state":{}}`, `{"status":"STALE","actions":[]}`
	for i := range KeepAll + 500 {
		r.Add(quiet(i, valid))
	}
	r.Add(quiet(5000, stale))
	r.Add(invocation("r5001", "state", valid)) // it logged something
	failed := quiet(5002, valid)
	failed.Result.ExitCode = 1
	r.Add(failed)
	r.Add(quiet(5003, "")) // no answer
	made := quiet(5004, "")
	made.Step = "make"
	r.Add(made) // the state after it says so
	made.Result.Stdout = []byte("made it with luck\n")
	r.Add(made)
	end(t, r)
	run, err := Find(dir, "")
	if err != nil || run.Recorded != KeepAll+5 || run.LeftOut != 501 {
		t.Errorf("%+v, %v", run, err)
	}
	if steps, err := run.Steps("r400"); err != nil || len(steps) != 0 {
		t.Errorf("%v, %v", steps, err)
	}
}

// The queries of a small run have files when it has ended. They are found before
// that too, and when its process dies, also while it writes the files.
func TestRecorder_SmallRunsHaveFiles(t *testing.T) {
	dir := t.TempDir()
	r := begin(dir, "1")
	for i := range KeepFiles - 1 {
		r.Add(invocation(fmt.Sprintf("r%d", i), "state", fmt.Sprintf("answer %d", i)))
	}
	r.Add(invocation("r0", "make", "made"))
	count := func(when string, files int) {
		t.Helper()
		run, err := Find(dir, "1")
		if err != nil {
			t.Fatal(err)
		}
		steps, err := run.Steps("")
		if err != nil || len(steps) != KeepFiles {
			t.Errorf("%s: %d steps, %v", when, len(steps), err)
		}
		metas, err := filepath.Glob(filepath.Join(run.Path(), "*", "*", metaName))
		if err != nil || len(metas) != files {
			t.Errorf("%s: %d with files, %v", when, len(metas), err)
		}
		steps, err = run.Steps("r7")
		if err != nil || len(steps) != 1 {
			t.Fatalf("%s: %+v, %v", when, steps, err)
		}
		if out, err := steps[0].Read(Stdout); err != nil || string(out) != "answer 7" {
			t.Errorf("%s: %q, %v", when, out, err)
		}
	}
	count("running", 1)
	lines := filepath.Join(dir, ".deployster", "runs", "1", linesName)
	content, err := os.ReadFile(lines)
	if err != nil {
		t.Fatal(err)
	}
	end(t, r)
	count("ended", KeepFiles)
	if _, err := os.Stat(lines); !errors.Is(err, os.ErrNotExist) {
		t.Error("the lines are left:", err)
	}
	if err := os.WriteFile(lines, content, 0o600); err != nil {
		t.Fatal(err)
	}
	count("crashed", KeepFiles)
}

// In a large run a query is a line of a file, and so is an action after the first
// hundred invocations. What failed, or is no text, has files.
func TestRecorder_FurtherInvocationsAreLines(t *testing.T) {
	dir := t.TempDir()
	r := begin(dir, "1")
	for i := range KeepAll {
		r.Add(invocation(fmt.Sprintf("early%d", i), "state", "{}"))
	}
	var wait sync.WaitGroup
	for i := range 300 {
		wait.Go(func() { r.Add(invocation(fmt.Sprintf("r%d", i), "make", fmt.Sprintf("made %d with s3cret", i))) })
	}
	wait.Wait()
	failed, binary, long := invocation("failed", "make", "x"), invocation("binary", "make", "\xff"),
		invocation("long", "make", strings.Repeat("x", maxLineText+1))
	failed.Result.ExitCode = 1
	for _, i := range []typeclient.Invocation{failed, binary, long} {
		r.Add(i)
	}
	end(t, r)
	run, err := Find(dir, "1")
	if err != nil || run.Recorded != KeepAll+303 || run.LeftOut != 0 {
		t.Fatalf("%+v, %v", run, err)
	}
	// Whoever wrote it may have died over the last line.
	lines := filepath.Join(run.Path(), linesName)
	content, err := os.ReadFile(lines)
	if err == nil {
		err = os.WriteFile(lines, append(content, `{"format":1,"resource":"r29`...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if all, err := run.Steps(""); err != nil || len(all) != KeepAll+303 {
		t.Errorf("%d, %v", len(all), err)
	}
	for name, own := range map[string]bool{"early0": false, "early20": false} {
		if steps, err := run.Steps(name); err != nil || len(steps) != 1 || (steps[0].Path() != lines) != own {
			t.Errorf("%s: %+v, %v", name, steps, err)
		}
	}
	for name, want := range map[string]string{"r7": "made 7 with (gone)", "failed": "x", "binary": "\xff",
		"long": strings.Repeat("x", maxLineText+1)} {
		steps, err := run.Steps(name)
		if err != nil || len(steps) != 1 || steps[0].Step != "make" || steps[0].ExitCode == nil {
			t.Errorf("%s: %+v, %v", name, steps, err)
			continue
		}
		out, err := steps[0].Read(Stdout)
		sent, err1 := steps[0].Read(Stdin)
		said, err2 := steps[0].Read(Stderr)
		if string(out) != want || string(sent) != `{"name":"a (gone)","config":{"x":"(gone)"}}` || string(said) != "with (gone)" ||
			errors.Join(err, err1, err2) != nil {
			t.Errorf("%s: %.50q, %q, %q, %v, %v, %v", name, out, sent, said, err, err1, err2)
		}
		if own := steps[0].Path() != lines; own != (name != "r7") {
			t.Errorf("%s is in %s", name, steps[0].Path())
		}
	}
}

func TestRecorder_FileNames(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"a", "a.b", `a["b"]`, "a[b]", "a[0]", "..", "../../etc", "a/b", "a_b", "-x", "x", strings.Repeat("l", 300),
		strings.Repeat("l", 301), "é", "", "run.json", "A"} {
		file := fileName(name)
		if other, twice := seen[file]; twice || file == "" || strings.ContainsAny(file, "/\x00") || file[0] == '.' || file[0] == '-' ||
			len(file) > 120 {
			t.Errorf("%q is %q, as %q", name, file, other)
		}
		seen[file] = name
	}
	if fileName(`web["a"]`) == `web["a"]` || fileName("web[0]") != "web[0]" {
		t.Error("names that people would not find")
	}
}

// The cost of ten thousand valid resources: see docs/internals/performance.md.
func BenchmarkTenThousandResources(b *testing.B) {
	answer, _ := json.Marshal(map[string]any{"status": "VALID", "state": map[string]any{"text": strings.Repeat("x", 500)}})
	resources := 10_000
	if testing.Short() { // only checks that it runs
		resources = 10
	}
	for b.Loop() {
		dir := b.TempDir()
		r := begin(dir, "1")
		for i := range resources {
			in := invocation(fmt.Sprintf("r%d", i), "state", string(answer))
			in.Result.Stderr = nil
			r.Add(in)
		}
		if err := r.Finish(OK, 0, time.Now()); err != nil {
			b.Fatal(err)
		}
		r.Close()
	}
}

// A command may be killed between two files of an invocation.
func TestRecorder_MetadataIsTheLast(t *testing.T) {
	r := begin(t.TempDir(), "1")
	for i := range 20 {
		dir := filepath.Join(t.TempDir(), strconv.Itoa(i))
		if err := os.MkdirAll(filepath.Join(dir, Stdout), 0o700); err != nil { // it cannot be written
			t.Fatal(err)
		}
		_, err := r.writeFiles(dir, Step{}, map[string][]byte{Stdin: nil, Stdout: nil, Stderr: nil})
		if _, missing := os.Stat(filepath.Join(dir, metaName)); err == nil || missing == nil {
			t.Fatalf("the metadata is there, and the output is not: %v", err)
		}
	}
}
