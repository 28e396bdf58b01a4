//go:build linux && amd64

package crash_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deployster/internal/testkit/crash"
	"deployster/state"
	"deployster/state/moves"
)

// resources writes a manifest of things in two chains and the values that they
// are to hold. A name such as "z<a" is z, which was a. A value such as "x/1" is of the
// type that knows its things by an identity: the thing x, which is to hold 1; "x/1!" is made
// before what it replaces is destroyed. "a~1" is of the type that has a memory, "1@a" of
// the one that is told when something is done about a.
func resources(values map[string]string) string {
	var b strings.Builder
	var names []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		name, from, moved := strings.Cut(key, "<")
		if moved {
			fmt.Fprintf(&b, "moved {\n  from = resource.%s\n  to = resource.%s\n}\n", from, name)
		}
		names = append(names, name)
		_, config := thing(name, values[key])
		ty := "thing"
		if strings.Contains(values[key], "/") {
			ty = "known"
		}
		if strings.Contains(values[key], "~") {
			ty = "kept"
		}
		_, sender, told := strings.Cut(values[key], "@")
		if told {
			ty = "told"
		}
		fmt.Fprintf(&b, "resource %q {\n  type = \"test/%s:1\"\n  config = jsondecode(%q)\n", name, ty, config)
		if strings.HasSuffix(values[key], "!") {
			b.WriteString("  lifecycle {\n    create_before_destroy = true\n  }\n")
		}
		if told {
			fmt.Fprintf(&b, "  subscribe = [resource.%s]\n", sender)
		}
		if i := len(names) - 1; i > 1 {
			fmt.Fprintf(&b, "  depends_on = [resource.%s]\n", names[i-2])
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// thing gives the name in the world of the thing that a resource means, and its config.
func thing(name, value string) (thing, config string) {
	if id, v, known := strings.Cut(strings.TrimSuffix(value, "!"), "/"); known {
		return id, fmt.Sprintf(`{"id":%q,"v":%q}`, id, v)
	}
	return name, fmt.Sprintf(`{"v":%q}`, value)
}

// scenario is an apply that is crashed, and what was there before it.
type scenario struct {
	name          string
	before, after map[string]string // name -> value
}

// scenarios cover making from nothing, changing, removing and making at once, and
// moving. (The things of this world are known by their names: one that is moved
// is made anew, and what it was is left.)
func scenarios() []scenario {
	return []scenario{
		{"from nothing", nil, map[string]string{"a": "1", "b": "1", "c": "1", "d": "1"}},
		{"all kinds", map[string]string{"a": "1", "b": "1", "c": "1", "e": "1"}, map[string]string{"a": "1", "b": "2", "c": "2", "d": "1"}},
		{"remove all", map[string]string{"a": "1", "b": "1", "c": "1"}, map[string]string{}},
		{"many", map[string]string{"a": "1", "b": "1", "c": "1", "d": "1", "e": "1"},
			map[string]string{"a": "2", "b": "2", "d": "1", "f": "1", "g": "1", "h": "1", "i": "1", "j": "1"}},
		{"identity", map[string]string{"s0": "a/1", "s1": "b/1", "s2": "c/1", "d": "d/1", "r": "r/1"},
			map[string]string{"s0": "b/1", "s1": "c/2", "e": "d/1", "f": "g/1", "r": "q/1"}},
		{"made first", map[string]string{"d": "d/1", "r": "r/1", "w": "w/1"}, map[string]string{"d": "e/1!", "r": "r/2", "w": "v/1!"}},
		{"moves", map[string]string{"a": "1", "b": "1", "c": "1"}, map[string]string{"x<a": "1", "y<b": "2", "z": "1"}},
	}
}

// arena is the directory of one experiment.
type arena struct {
	t           *testing.T
	root        string // of the test: manifests and output
	dir         string // what the subject has its state in
	log         string // of the world
	identity    string // that opens its files; "" = they are in clear text
	old         int    // effects of runs that the state may not name any more
	parallelism int
}

func newArena(t *testing.T, parallelism int) *arena {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a := &arena{t: t, root: root, dir: filepath.Join(root, "work"), parallelism: parallelism}
	a.log = filepath.Join(a.dir, "world.log")
	if err := os.Mkdir(a.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return a
}

// reset puts the directory of the subject back to what was saved as name.
func (a *arena) reset(from string) {
	a.t.Helper()
	if err := os.RemoveAll(a.dir); err != nil {
		a.t.Fatal(err)
	}
	if err := os.CopyFS(a.dir, os.DirFS(from)); err != nil {
		a.t.Fatal(err)
	}
}

// save keeps a copy of the subject's directory.
func (a *arena) save(name string) string {
	a.t.Helper()
	to := filepath.Join(a.root, name)
	if err := os.CopyFS(to, os.DirFS(a.dir)); err != nil {
		a.t.Fatal(err)
	}
	return to
}

// outcome is one run of the subject.
type outcome struct {
	crash.Result
	output string
}

// said gives the rest of the output's lines that begin with a word.
func (o outcome) said(word string) []string {
	var out []string
	for line := range strings.Lines(o.output) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), word+": "); ok {
			out = append(out, rest)
		}
	}
	return out
}

// program is the subject with a manifest of these values. Its output goes to a
// file, which the caller closes.
func (a *arena) program(values map[string]string) crash.Program {
	a.t.Helper()
	manifest := filepath.Join(a.root, "main.hcl")
	if err := os.WriteFile(manifest, []byte(resources(values)), 0o600); err != nil {
		a.t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(a.root, "output"))
	if err != nil {
		a.t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		a.t.Fatal(err)
	}
	// It ends before its garbage is worth a collection.
	return crash.Program{Path: self, Args: []string{"subject", a.dir, manifest, a.log, fmt.Sprint(a.parallelism)},
		Env: append(os.Environ(), subjectVariable+"=1", subjectKey+"="+a.identity, "GOGC=off"), Dir: a.root, Output: out}
}

// run runs the subject on a manifest, with a fault.
func (a *arena) run(values map[string]string, at crash.Point) outcome {
	a.t.Helper()
	p := a.program(values)
	defer p.Output.Close()
	return a.trace(p, at)
}

// trace runs a subject with a fault.
func (a *arena) trace(p crash.Program, at crash.Point) outcome {
	a.t.Helper()
	at.Dir, p.Quiet, p.Env = a.dir, true, append(p.Env, subjectQuiet+"=1")
	result, err := crash.Run(p, at)
	if err != nil {
		a.t.Fatal(err)
	}
	return a.outcome(p, result)
}

// outcome adds what the subject printed.
func (a *arena) outcome(p crash.Program, result crash.Result) outcome {
	a.t.Helper()
	text, err := os.ReadFile(p.Output.Name())
	if err != nil {
		a.t.Fatal(err)
	}
	return outcome{result, string(text)}
}

// faults looks at what a crash has left behind. It gives what must never be.
func (a *arena) faults(o outcome) (faults []string, inFlight []string) {
	a.t.Helper()
	say := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	s, recovery, err := state.Load(state.File(filepath.Join(a.dir, "state.json")), ring(a.identity))
	if err != nil {
		say("torn: %v", err)
		return faults, nil
	}
	if readable := a.readable(); len(readable) > 0 {
		say("in clear text: %v", readable)
	}
	done, err := effects(a.log)
	if err != nil {
		a.t.Fatal(err)
	}
	file, journal := a.texts()
	seen := map[string]bool{}
	for i, e := range done {
		if seen[e.Key] {
			say("duplicate: %s", e.Key)
		}
		seen[e.Key] = true
		run := strings.Split(e.Key+"//", "/")[1] // after the lineage
		if i >= a.old && !strings.Contains(string(file), `"plan": "`+run) && !strings.Contains(string(journal), e.Key) {
			say("lost: %s took effect and is not on record", e.Key)
		}
	}
	recorded := map[string]bool{}
	for addr, e := range s.Resources {
		var config struct{ ID string }
		if json.Unmarshal(e.Config, &config) == nil {
			recorded[cmp.Or(config.ID, addr)] = true
		}
	}
	for name := range things(done) {
		moved := strings.Contains(string(journal), `"from":"`+name+`"`) || slices.ContainsFunc(o.said("moved"),
			func(m string) bool { return strings.HasPrefix(m, name+">") })
		if !moved && !recorded[name] {
			say("lost: %s is there, and nothing says how to destroy it", name)
		}
	}
	for _, valid := range o.said("valid") {
		addr, want, _ := strings.Cut(valid, " ")
		if got := s.Resources[addr].State; !sameJSON(got, []byte(want)) {
			say("lost: %s was said to be recorded as %s, and is %s", addr, want, got)
		}
	}
	for _, moved := range o.said("moved") {
		from, to, _ := strings.Cut(moved, ">")
		_, there := s.Resources[from]
		if _, number := moves.RecordedAt(to); there && number == 0 && !slices.ContainsFunc(o.said("moved"),
			func(m string) bool { return strings.HasSuffix(m, ">"+from) }) {
			say("lost: that %s was moved to %s", from, to)
		}
		if _, there := s.Resources[to]; !there && !slices.Contains(o.said("removed"), to) && !strings.Contains(string(journal),
			`"kind":"removed","address":"`+to+`"`) {
			say("lost: %s, which was %s", to, from)
		}
	}
	for _, addr := range o.said("removed") {
		then := o.output[strings.LastIndex(o.output, "removed: "+addr+"\n"):]
		if e, there := s.Resources[addr]; there && !e.Incomplete() && !strings.Contains(then, "/"+addr+"/make") { // it was replaced
			say("lost: that %s was removed", addr)
		}
	}
	if strings.Contains(o.output, "finished\n") && recovery != nil {
		say("lost: that the run had ended")
	}
	return faults, started(file, journal)
}

// started are the keys of actions whose end is not on record in a journal that
// is not in the state file yet.
func started(file, journal []byte) []string {
	open := map[string]string{}
	for line := range strings.Lines(string(journal)) {
		_, body, _ := strings.Cut(line, " ")
		var r struct {
			Kind, Address, Action string
			Key                   string `json:"idempotency_key"`
			Begin                 struct{ Run string }
		}
		if json.Unmarshal([]byte(body), &r) != nil {
			break // the torn tail
		}
		switch r.Kind {
		case "begin":
			if strings.Contains(string(file), `"run": "`+r.Begin.Run) {
				return nil
			}
		case "action-started":
			open[r.Address+" "+r.Action] = r.Key
		case "action-ended":
			delete(open, r.Address+" "+r.Action)
		}
	}
	return slices.Collect(maps.Values(open))
}

// leftovers are files that nobody needs once an apply has ended well.
func (a *arena) leftovers() (left []string) {
	a.t.Helper()
	known := regexp.MustCompile(`^(state\.json(\.lock|\.copies(/\d{10}\.json)?)?|world\.log|lost\+found|\.)$`)
	err := filepath.WalkDir(a.dir, func(path string, _ fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(a.dir, path) // it is below it
		if !known.MatchString(rel) {
			left = append(left, rel)
		}
		return err
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return left
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && fmt.Sprint(x) == fmt.Sprint(y)
}

// settled looks at what there is when an undisturbed run has ended after the
// crashes: all is as wanted, and nothing was done twice on the way.
func (a *arena) checkNext(o outcome, sc scenario) (faults []string) {
	a.t.Helper()
	say := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if o.Exit != 0 {
		say("the run after the crash failed: %s", o.output)
		return faults
	}
	done, err := effects(a.log)
	if err != nil {
		a.t.Fatal(err)
	}
	count := map[string]int{}
	for _, e := range done {
		what := e.Action + " " + e.Name + " " + string(e.Config)
		if count[what]++; count[what] > 1 {
			say("duplicate: %s, %d times", what, count[what])
		}
	}
	s, recovery, err := state.Load(state.File(filepath.Join(a.dir, "state.json")), ring(a.identity))
	if err != nil || recovery != nil {
		say("torn: %v, %v", err, recovery)
	}
	if left := a.leftovers(); len(left) > 0 {
		say("left behind: %v", left)
	}
	want, left := map[string]string{}, map[string]string{}
	for key, value := range sc.after {
		name, from, moved := strings.Cut(key, "<")
		if moved {
			left[from] = fmt.Sprintf(`{"v":%q}`, sc.before[from])
		}
		is, config := thing(name, value)
		want[is] = config
		if old, _ := thing(name, sc.before[name]); strings.HasSuffix(value, "!") && slices.IndexFunc(done, removes(old)) < slices.IndexFunc(done, makes(is)) {
			say("order: %s is destroyed before %s is made", old, is)
		}
		if !sameJSON(s.Resources[name].State, []byte(config)) {
			say("lost: the state says of %s %s", name, s.Resources[name].State)
		}
	}
	maps.Copy(left, want)
	if len(s.Resources) != len(want) || !maps.Equal(things(done), left) {
		say("wrong: the state has %d resources, there are %v, and wanted is %v", len(s.Resources), things(done), want)
	}
	return faults
}

func removes(thing string) func(effect) bool {
	return func(e effect) bool { return e.Action == "remove" && e.Name == thing }
}

func makes(thing string) func(effect) bool {
	return func(e effect) bool { return e.Action != "remove" && e.Name == thing }
}

// silent compares what was in flight at a crash with what the next run says.
func silent(inFlight []string, next outcome) (faults []string) {
	said := next.said("recovered")
	for _, key := range inFlight {
		if !slices.Contains(said, key) && next.Hit == nil {
			faults = append(faults, "silent: nobody was told that "+key+" was in flight")
		}
	}
	return faults
}

// prepare makes the state that a scenario begins with, and counts the calls of
// its apply.
func (a *arena) prepare(sc scenario) (start string, calls []crash.Call) {
	a.t.Helper()
	if sc.before != nil {
		if o := a.run(sc.before, crash.Point{}); o.Exit != 0 {
			a.t.Fatalf("the preparation failed: %s", o.output)
		}
	}
	start = a.save("start")
	o := a.run(sc.after, crash.Point{})
	if faults := a.checkNext(o, sc); len(faults) > 0 {
		a.t.Fatalf("without any fault: %v", faults)
	}
	return start, o.Calls
}
