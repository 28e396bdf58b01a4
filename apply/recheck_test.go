package apply_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"deployster/apply"
	"deployster/plan"
	"deployster/protocol"
)

// What a plan forgets because it was gone is not forgotten when it is there again.
func TestForget_QueriesAgainWhatWasGone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		source string
		only   plan.Selection
	}{
		"its block is removed": {"", plan.Selection{}},
		"only recorded":        {thing("a", "v", "1"), plan.Selection{RefreshOnly: true}},
	} {
		for after, there := range map[string]string{"still gone": "", "there again": `{"v":1}`, "there in part": `{}`} {
			t.Run(name+", "+after, func(t *testing.T) {
				t.Parallel()
				e := newEngine(t.TempDir())
				e.do(t, thing("a", "v", "1"))
				e.world.Set("a", "")
				e.only = c.only
				p, err := e.plan(c.source)
				if err != nil || p.Resources["a"].Change() != plan.Forget {
					t.Fatalf("%+v, %v", p, err)
				}
				e.world.Set("a", there)
				report, err := e.apply(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				_, kept := e.recorded(t).Resources["a"]
				if a := report.Resources["a"]; kept != (there != "") || kept != strings.Contains(a.Reason, "the image returned") ||
					kept != (report.Status == apply.Error) {
					t.Errorf("it is %s, and recorded is %v: %+v", after, kept, a)
				}
			})
		}
	}
}

// A plan does not fit what was made anew since, however equal that is: its memory is another.
func TestCheck_ChangedSince(t *testing.T) {
	t.Parallel()
	source := thing("a", "v", "1") + thing("b", "v", "1")
	for name, c := range map[string]struct{ lost, want string }{
		"made again":     {"a", "the state of a changed after this plan was made"},
		"looked at only": {"", "<nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t.TempDir())
			e.do(t, source)
			p, err := e.plan(source + thing("c"))
			if err != nil || p.Resources["a"].Change() != plan.Valid {
				t.Fatalf("%+v, %v", p, err)
			}
			if c.lost != "" {
				e.world.Set(c.lost, "")
			}
			e.do(t, source)
			if _, err := e.apply(t.Context(), p); !strings.Contains(fmt.Sprint(err), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// What cannot be asked again whether it is gone is not forgotten.
func TestForget_WhatCannotBeQueried(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	e.fake.Add("test/a:1", (&scripted{answer: func(in protocol.StateInput, _ []string) (string, int) {
		if in.Intent == protocol.Absent {
			return `{"status":"MISSING"}`, 0
		}
		return `{"status":"VALID","state":{}}`, 0
	}}).program)
	e.do(t, "resource \"a\" {\n  type = \"test/a:1\"\n}\n")
	p, err := e.plan("")
	if err != nil || p.Resources["a"].Change() != plan.Forget {
		t.Fatalf("%+v, %v", p, err)
	}
	e.fake.Add("test/a:1", (&scripted{answer: func(protocol.StateInput, []string) (string, int) { return "", 1 }}).program)
	report, err := e.apply(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if _, kept := e.recorded(t).Resources["a"]; !kept || report.Resources["a"].ExitCode != 1 {
		t.Errorf("recorded is %v: %+v", kept, report.Resources["a"])
	}
}

// What a plan found VALID while the end of an action was not seen is asked again before that is
// recorded. What nothing was begun on is not asked again.
func TestRun_QueriesAgainWhatAnActionWasBegunOn(t *testing.T) {
	t.Parallel()
	source := thing("a", "v", "1") + thing("b", "v", "1")
	for name, c := range map[string]struct {
		found, now string
		only       plan.Selection
		change     plan.Change
		status     apply.Status
	}{
		"VALID still":              {`{"v":1}`, `{"v":1}`, plan.Selection{}, plan.Valid, apply.Unchanged},
		"damaged since":            {`{"v":1}`, `{"v":9}`, plan.Selection{}, plan.Valid, apply.Error},
		"gone since":               {`{"v":1}`, ``, plan.Selection{}, plan.Valid, apply.Error},
		"recorded, VALID still":    {`{"v":1}`, `{"v":1}`, plan.Selection{RefreshOnly: true}, plan.Record, apply.OK},
		"recorded, damaged since":  {`{"v":1}`, `{"v":9}`, plan.Selection{RefreshOnly: true}, plan.Record, apply.Error},
		"recorded, STALE still":    {`{"v":7}`, `{"v":9}`, plan.Selection{RefreshOnly: true}, plan.Record, apply.OK},
		"recorded, mended since":   {`{"v":7}`, `{"v":1}`, plan.Selection{RefreshOnly: true}, plan.Record, apply.Error},
		"recorded, removed since":  {`{"v":7}`, ``, plan.Selection{RefreshOnly: true}, plan.Record, apply.Error},
		"forgotten, there by then": {``, `{"v":1}`, plan.Selection{RefreshOnly: true}, plan.Forget, apply.Error},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t.TempDir())
			e.do(t, source)
			e.world.Set("a", `{"v":7}`)
			e.world.Fail("a", true)
			e.do(t, source) // what its action leads to is not seen
			e.world.Set("a", c.found)
			e.only = c.only
			p, err := e.plan(source)
			if err != nil || p.Resources["a"].Change() != c.change {
				t.Fatalf("%+v, %v", p, err)
			}
			e.world.Set("a", c.now)
			seen := len(e.fake.Calls())
			report, err := e.apply(t.Context(), p)
			if err != nil || report.Resources["a"].Status != c.status || report.Resources["b"].Status != apply.Unchanged {
				t.Fatalf("%+v, %v", report.Resources["a"], err)
			}
			if asked := strings.Fields(e.asked(&seen)); !slices.Equal(asked, []string{"a"}) {
				t.Errorf("asked %q", asked)
			}
			now, failed := e.recorded(t), c.status == apply.Error
			entry := now.Resources["a"]
			if _, unsettled := now.Unsettled["a"]; entry.Dirty != failed || unsettled != (failed || entry.LastSeen != nil) {
				t.Errorf("marked: %v, unsettled: %v", entry.Dirty, unsettled)
			}
			if entry.LastSeen != nil && string(entry.LastSeen.State) != c.now {
				t.Errorf("found %s, want %s", entry.LastSeen.State, c.now)
			}
		})
	}
}
