package render

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"deployster/apply"
	"deployster/internal/base/jsondoc"
	"deployster/internal/ui/paint"
	"deployster/plan"
	"deployster/plan/change"
	"deployster/plan/reason"
	"deployster/protocol"
)

var update = flag.Bool("update", false, "write what is rendered into testdata")

// golden compares with a file under testdata; colours are left out.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	got = paint.Colors(got, false)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("rendered:\n%s\nwant, as in %s:\n%s", got, path, want)
	}
}

func step(kind plan.Change, config string) *plan.Step {
	s := &plan.Step{Type: "demo/file:1", Config: json.RawMessage(config), Source: "main.hcl:7", Init: protocol.Type{Label: "File"},
		Part: change.New(kind)}
	if kind != plan.Valid && kind != plan.Deferred {
		s.Answer().Actions = []protocol.Action{{Name: "write", Description: "Write it"}}
	}
	return s
}

// planOf returns a plan of steps in the order of their names.
func planOf(names []string, steps map[string]*plan.Step) *plan.Plan {
	p := &plan.Plan{Layers: [][]string{names}, Resources: steps}
	for _, s := range steps {
		switch s.Change() {
		case plan.Create:
			p.Summary.Create++
		case plan.Update:
			p.Summary.Update++
		case plan.Destroy:
			p.Summary.Destroy++
		case plan.Deferred:
			p.Summary.Deferred++
		case plan.Valid:
			p.Summary.Valid++
		}
		count := func(is bool, n *int) {
			if is {
				*n++
			}
		}
		count(s.Adopts(), &p.Summary.Adopt)
		count(s.Change() == plan.Valid && s.Certainty == plan.MayChange, &p.Summary.MayChange)
		count(s.MovedFrom != "", &p.Summary.Move)
		count(s.Expected() == plan.Create, &p.Summary.Expected.Create)
		count(s.Expected() == plan.Update, &p.Summary.Expected.Update)
	}
	return p
}

// sample has each thing that a plan shows.
func sample() *plan.Plan {
	steps, names := map[string]*plan.Step{}, []string{}
	add := func(name string, s *plan.Step) { steps[name], names = s, append(names, name) }
	update := step(plan.Update, `{"mode":"0644","text":"a\nb\nc\nD\ne\n","owner":"www","token":"t0ken"}`)
	update.Answer().Stale = json.RawMessage(`{"mode":"0600","text":"a\nb\nc\nd\ne\n","owner":"www","token":"old"}`)
	update.Sensitive, update.Part.(*change.Update).Drifted = []string{"/token"}, true
	add("conf", update)
	reasons := step(plan.Update, `{"size":"200gb","zone":"a"}`)
	reasons.Answer().Stale = json.RawMessage(`{"size":100,"zone":"a"}`)
	reasons.Answer().Reasons = []protocol.Reason{{Path: "/size", Have: json.RawMessage("100"), Want: json.RawMessage("200"), Message: "it grows, and is not made anew"}}
	add("disk", reasons)
	for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
		add(fmt.Sprintf("equal[%q]", key), step(plan.Create, `{"size":1}`))
	}
	for i := range 30 {
		add(fmt.Sprintf("alike[%d]", i), step(plan.Create, fmt.Sprintf(`{"n":%d,"same":true}`, i)))
	}
	late := step(plan.Deferred, `{"ip":{"$unknown":"resource.conf.state.ip"}}`)
	late.Unknown = map[string]string{"/ip": "resource.conf.state.ip"}
	late.Reason = reason.New(reason.UnknownValues, "resource.conf.state.ip")
	deferred := func(s *plan.Step, expected plan.Change, was string) *plan.Step {
		p := &change.Deferred{Expected: expected}
		if was != "" {
			p.Was = &change.Was{State: json.RawMessage(was)}
		}
		now := *s
		now.Part = p
		return &now
	}
	late = deferred(late, "", `{"ip":"10.0.0.1"}`)
	add("late", late)
	later := deferred(late, plan.Update, `{"ip":"10.0.0.1","zone":"a"}`)
	later.Config = json.RawMessage(`{"ip":{"$unknown":"resource.conf.state.ip"},"zone":"b"}`)
	add("later", later)
	fresh := deferred(late, plan.Create, "")
	fresh.Notes = []*reason.Reason{reason.New(reason.AutoEdge, "resource.conf")} // not in the compact form
	add("fresh", fresh)
	looked := deferred(late, "", "")
	looked.ReadOnly = true
	add("looked", looked)
	there := step(plan.Valid, `{}`)
	there.Part.(*change.Valid).Adopted = true
	add("there", there)
	moved := step(plan.Valid, `{}`)
	moved.MovedFrom, moved.MovedWhy, moved.Init.Identity = "hello", "identity", []string{"/path"}
	add("greeting", moved)
	edited := step(plan.Valid, `{}`)
	edited.Part.(*change.Valid).Edited, edited.Notes = []jsondoc.Edit{{Path: "/tier", How: jsondoc.Removed}}, []*reason.Reason{reason.New(reason.MayStay)}
	add("edited", edited)
	may := step(plan.Valid, `{"zone":"a"}`)
	may.Certainty, may.MayChangeAt, may.Reason = plan.MayChange, []string{"/zone"}, reason.New(reason.ToUpdate, "conf")
	add("may", may)
	add("old", step(plan.Destroy, `{}`))
	newer := step(plan.Create, `{"id":"d2"}`)
	newer.Replaces, newer.Notes = "newer (deposed 1)", []*reason.Reason{
		reason.New(reason.DestroyedLater, "newer (deposed 1)").With(reason.New(reason.Differs, "/id", `"d1"`, `"d2"`))}
	add("newer", newer)
	deposed := step(plan.Destroy, `{"id":"d1"}`)
	deposed.Deposed, deposed.Init.Identity, deposed.Reason = "newer", []string{"/id"}, reason.New(reason.AnotherObject, "newer")
	add("newer (deposed 1)", deposed)
	add("right", step(plan.Valid, `{}`))
	p := planOf(names, steps)
	p.Outputs = map[string]plan.Output{"key": {Value: json.RawMessage(`"k"`), Sensitive: true, Changed: true}, "n": {Value: json.RawMessage(`3`), Changed: true}}
	return p
}

func TestPlan_Golden(t *testing.T) {
	for name, o := range map[string]Options{"plan": {}, "plan-80": {Width: 80}, "plan-compact": {Compact: true}} {
		t.Run(name, func(t *testing.T) { golden(t, name, Plan(sample(), o)) })
	}
}

func TestReport_Golden(t *testing.T) {
	p := sample()
	r := &apply.Report{Status: apply.Error, Resources: map[string]*apply.ResourceReport{}}
	took := map[string]time.Duration{}
	for i, addr := range p.Order() {
		r.Resources[addr] = &apply.ResourceReport{Status: apply.OK, Completed: []string{"write"}}
		took[addr] = time.Duration(i+1) * 100 * time.Millisecond
	}
	r.Resources["right"] = &apply.ResourceReport{Status: apply.Unchanged}
	r.Resources["disk"] = &apply.ResourceReport{Status: apply.Error, Failed: "write", ExitCode: 3, LastLines: []string{"no space"}}
	r.Resources["late"] = &apply.ResourceReport{Status: apply.NotStarted, NotAttempted: []string{"write"}}
	golden(t, "report", Report(p, r, took, Options{}))
}

// However many resources there are: what is shown can be read, and is there soon.
func TestPlan_TenThousandResources(t *testing.T) {
	for name, make := range map[string]func(i int) (string, *plan.Step){
		"instances": func(i int) (string, *plan.Step) {
			return fmt.Sprintf("file[%q]", fmt.Sprint(i)), step(plan.Create, fmt.Sprintf(`{"n":%d}`, i))
		},
		"blocks": func(i int) (string, *plan.Step) {
			s := step(plan.Update, fmt.Sprintf(`{"n":%d,"k%d":1}`, i, i))
			s.Answer().Stale = json.RawMessage(fmt.Sprintf(`{"n":0,"k%d":2}`, i))
			return fmt.Sprintf("file_%d", i), s
		},
		"destroyed": func(i int) (string, *plan.Step) { return fmt.Sprintf("file_%d", i), step(plan.Destroy, `{}`) },
	} {
		t.Run(name, func(t *testing.T) {
			steps, names := map[string]*plan.Step{}, []string{}
			r := &apply.Report{Status: apply.OK, Resources: map[string]*apply.ResourceReport{}}
			for i := range 10_000 {
				addr, s := make(i)
				steps[addr], names = s, append(names, addr)
				r.Resources[addr] = &apply.ResourceReport{Status: apply.OK, Completed: []string{"write"}}
			}
			p, start := planOf(names, steps), time.Now()
			shown, result := Plan(p, Options{}), Report(p, r, nil, Options{})
			t.Logf("%d and %d lines in %v", strings.Count(shown, "\n"), strings.Count(result, "\n"), time.Since(start))
			if n := strings.Count(shown, "\n"); n > 900 {
				t.Errorf("a plan of %d lines", n)
			}
			if n := strings.Count(result, "\n"); n > 70 {
				t.Errorf("a report of %d lines", n)
			}
			if lines := strings.Count(Plan(p, Options{Compact: true}), "\n"); lines < 10_000 || lines > 10_010 {
				t.Errorf("-compact has %d lines", lines)
			}
		})
	}
}

func TestBlock_DropsTheInstanceKey(t *testing.T) {
	for addr, want := range map[string]string{"a": "a", `a["x"]`: "a", `module.m["a.b]\"["].c[0]`: "module.m.c"} {
		if got := Block(addr); got != want {
			t.Errorf("%s is of %s, want %s", addr, got, want)
		}
	}
}

// What is said of several resources in one block is said of several.
func TestWords_OfMany(t *testing.T) {
	one := regexp.MustCompile(`\b(is|its|it|exists|stays|was|one|address)\b`)
	for _, c := range changeWords {
		if c.change == plan.ReadFailed { // written with its reason
			continue
		}
		for _, words := range []string{c.words, c.words + " once its dependencies exist", "is unchanged", "is unchanged, under a new address", published,
			"will be replaced, the new one first"} {
			if got := ofMany.Replace(words); one.MatchString(got) {
				t.Errorf("%q is said of one: %s", got, one.FindString(got))
			}
		}
	}
}
