package apply_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"deployster/apply"
	"deployster/plan"
	"deployster/protocol"
)

// What was not looked at after a removal is named, and the apply is not complete: also
// where the plan leaves it out, and its place in the report.
func TestRemoval_WhatWasNotReadAfterIt(t *testing.T) {
	t.Parallel()
	const unseen = ": State not read again after a destroy"
	for name, c := range map[string]struct {
		only     plan.Selection
		letsGo   bool   // what is looked at depended on the other: its turn is before the removal
		fails    bool   // the look
		gone     bool   // what is looked at
		full     bool   // the disk, after the removal
		stops    string // Ctrl-C comes before the end of it
		status   apply.Status
		problems string // "*" stands for the failure of the look
	}{
		"all is well, left out":       {only: plan.Selection{Targets: []string{"a"}}, status: apply.OK},
		"all is well":                 {status: apply.OK},
		"the look fails, left out":    {only: plan.Selection{Targets: []string{"a"}}, fails: true, status: apply.Error, problems: "b: The state could not be read; " + unseen},
		"the look fails":              {fails: true, status: apply.Error, problems: "b: The state could not be read; " + unseen},
		"interrupted, left out":       {only: plan.Selection{Targets: []string{"a"}}, stops: "remove", status: apply.Interrupted, problems: unseen},
		"interrupted before its turn": {stops: "remove", status: apply.Interrupted}, // the report says so of b
		"interrupted after its turn":  {letsGo: true, stops: "remove", status: apply.Interrupted, problems: unseen},
		"all is well, after its turn": {letsGo: true, status: apply.OK},
		"interrupted in the look":     {only: plan.Selection{Targets: []string{"a"}}, stops: "state", status: apply.OK},
		"gone and not recorded, left out": {only: plan.Selection{Targets: []string{"a"}}, gone: true, full: true, status: apply.Error,
			problems: "b: Apply failed"},
		"interrupted before the removal": {stops: "absent", status: apply.Interrupted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t.TempDir())
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			applying, removed, s := false, false, &scripted{}
			at := func(step string) {
				if applying && c.stops == step {
					cancel()
				}
			}
			s.answer = func(in protocol.StateInput, args []string) (string, int) {
				switch {
				case args[0] != "state":
					removed = true
					at("remove")
					return "", 0
				case in.Intent == protocol.Absent && removed:
					return `{"status":"MISSING"}`, 0
				case in.Intent == protocol.Absent:
					at("absent")
					return `{"status":"STALE","staleState":{},"actions":[{"name":"remove","args":["remove"]}]}`, 0
				case removed && c.fails:
					return "", 1
				case removed && c.gone:
					return `{"status":"STALE","actions":[{"name":"make","args":["make"]}]}`, 0
				case removed:
					at("state")
				}
				return `{"status":"VALID","state":{"id":1}}`, 0
			}
			e.fake.Add("test/a:1", s.program)
			b := "resource \"b\" {\n  type = \"test/a:1\"\n  config = { id = 2 }\n}\n"
			before := b
			if c.letsGo {
				before = strings.Replace(b, "id = 2", "id = 2, on = resource.a.state.id", 1)
			}
			e.do(t, before+"resource \"a\" {\n  type = \"test/a:1\"\n  config = { id = 1 }\n}\n")
			_, p := e.selected(b, c.only)
			applying = true
			if c.full {
				e.wrap = func(j apply.Journal) apply.Journal { return &brokenJournal{Journal: j, valid: errors.New("disk full")} }
			}
			report, err := e.apply(ctx, p)
			if got := strings.Join(summaries(report.Problems), "; "); report.Status != c.status || got != c.problems || (err != nil) != c.full {
				t.Errorf("%s, problems %q, %v: %s", report.Status, got, err, encode(report))
			}
			for _, d := range report.Problems {
				if strings.HasPrefix(d.Summary, "State not read again") && !strings.Contains(d.Detail, "of resource.b was ") {
					t.Error(d.Detail)
				}
			}
		})
	}
}

// removes answers as a type whose action removes a thing; present answers all other queries.
func removes(present func(removed bool) string) func(protocol.StateInput, []string) (string, int) {
	removed := false
	return func(in protocol.StateInput, args []string) (string, int) {
		switch {
		case args[0] != "state":
			removed = true
			return "", 0
		case in.Intent == protocol.Absent && removed:
			return `{"status":"MISSING"}`, 0
		case in.Intent == protocol.Absent:
			return `{"status":"STALE","staleState":{},"actions":[{"name":"remove","args":["remove"]}]}`, 0
		}
		return present(removed), 0
	}
}

// A removal that was never begun has taken nothing with it: nothing is asked after it.
func TestRemoval_NotBegunQueriesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fails bool // the query of the removal
		want  int  // queries of b after that
	}{
		"removed":   {want: 1},
		"not begun": {fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t.TempDir())
			applying, asked, s := false, atomic.Int32{}, &scripted{}
			remove := removes(func(bool) string {
				if applying {
					asked.Add(1)
				}
				return `{"status":"VALID","state":{"id":1}}`
			})
			s.answer = func(in protocol.StateInput, args []string) (string, int) {
				if in.Intent == protocol.Absent && applying && c.fails {
					return "", 1
				}
				return remove(in, args)
			}
			e.fake.Add("test/a:1", s.program)
			b := "resource \"b\" {\n  type = \"test/a:1\"\n  config = { id = 2 }\n}\n"
			e.do(t, b+"resource \"a\" {\n  type = \"test/a:1\"\n  config = { id = 1 }\n}\n")
			_, p := e.selected(b, plan.Selection{})
			applying, e.opts.KeepGoing = true, true
			report, err := e.apply(t.Context(), p)
			if err != nil || (report.Status != apply.OK) != c.fails || int(asked.Load()) != c.want {
				t.Errorf("%s, %v, asked %d times, want %d: %s", report.Status, err, asked.Load(), c.want, encode(report))
			}
		})
	}
}

// What is seen after a removal is recorded, whether the turn of its resource has been or comes
// after that.
func TestRemoval_WhatIsSeenAfterItIsRecorded(t *testing.T) {
	t.Parallel()
	for name, letsGo := range map[string]bool{"before its turn": false, "after its turn": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t.TempDir())
			s := &scripted{answer: removes(func(removed bool) string {
				return fmt.Sprintf(`{"status":"VALID","state":{"id":1,"alone":%t}}`, removed)
			})}
			e.fake.Add("test/a:1", s.program)
			b := "resource \"b\" {\n  type = \"test/a:1\"\n  config = { id = 2 }\n}\n"
			before := b
			if letsGo {
				before = strings.Replace(b, "id = 2", "id = 2, on = resource.a.state.id", 1)
			}
			e.do(t, before+"resource \"a\" {\n  type = \"test/a:1\"\n  config = { id = 1 }\n}\n")
			e.do(t, b)
			if got := string(e.recorded(t).Resources["b"].State); got != `{"alone":true,"id":1}` {
				t.Error(got)
			}
		})
	}
}
