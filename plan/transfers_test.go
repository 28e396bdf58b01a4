package plan

import (
	"slices"
	"testing"

	"deployster/state"
	"deployster/state/content"
)

// onTheWay is the entry of a job that leaves to another state, or arrives from there.
func onTheWay(name string, leaves bool) state.Entry {
	e, other := entryOf(name), &content.Other{State: "/other", Lineage: "o", Address: name}
	if e.Transfer = (&state.Transfer{ID: "1", From: other}); leaves {
		e.Transfer = &state.Transfer{ID: "1", To: other}
	}
	return e
}

// went is what a state remembers of a job that has gone, and came of one that has come.
func went(name string) state.Transferred {
	e := entryOf(name)
	return state.Transferred{Transfer: *onTheWay(name, true).Transfer, Address: name, Entry: &e}
}

func came(name string) state.Transferred {
	return state.Transferred{Transfer: *onTheWay(name, false).Transfer, Address: name}
}

// transferCase is a plan of a project that gives, or gets, the job a, and what the plan does with some addresses.
type transferCase struct {
	setCase
	steps map[string]Change // "" = none
	why   map[string]string // codes of the reasons for steps
	left  map[string]string // codes
	saw   []string
}

func transferCases() map[string]transferCase {
	recorded := map[string]state.Entry{"a": entryOf("a")}
	renamed := "resource \"other\" {\n  type = \"job\"\n  config = { name = \"a\" }\n}\n"
	return map[string]transferCase{
		"it leaves, declared": {setCase: setCase{manifest: declare("a", "") + declare("b", "  depends_on = [resource.a]\n"), prior: map[string]state.Entry{"a": onTheWay("a", true)}},
			steps: map[string]Change{"a": "", "b": ""}, left: map[string]string{"a": "leaving", "b": "dependency_left"}},
		"it leaves, undeclared": {setCase: setCase{prior: map[string]state.Entry{"a": onTheWay("a", true)}}, steps: map[string]Change{"a": ""}, left: map[string]string{"a": "leaving"}},
		"all is destroyed": {setCase: setCase{prior: map[string]state.Entry{"a": onTheWay("a", true)}, chosen: Selection{Destroy: true}},
			steps: map[string]Change{"a": ""}, left: map[string]string{"a": "leaving"}},
		"it arrives": {setCase: setCase{manifest: declare("a", ""), prior: map[string]state.Entry{"a": onTheWay("a", false)}}, steps: map[string]Change{"a": ""},
			left: map[string]string{"a": "arriving"}},
		"it arrives for another address": {setCase: setCase{manifest: renamed, prior: map[string]state.Entry{"a": onTheWay("a", false)}},
			steps: map[string]Change{"a": "", "other": ""}, left: map[string]string{"a": "arriving", "other": "arriving"}},
		"it has come, undeclared": {setCase: setCase{prior: recorded, gone: []state.Transferred{came("a")}}, steps: map[string]Change{"a": Left}},
		"it has come, and all is destroyed": {setCase: setCase{prior: recorded, gone: []state.Transferred{came("a")}, chosen: Selection{Destroy: true}},
			steps: map[string]Change{"a": Destroy}, saw: []string{"a"}},
		"it has come, declared": {setCase: setCase{manifest: declare("a", ""), prior: recorded, gone: []state.Transferred{came("a")}},
			steps: map[string]Change{"a": Valid}, saw: []string{"a"}},
		"it has come, declared under another address": {setCase: setCase{manifest: renamed, prior: recorded, gone: []state.Transferred{came("a")}},
			steps: map[string]Change{"other": Valid, "a": ""}, saw: []string{"a"}},
		"it has gone": {setCase: setCase{gone: []state.Transferred{went("a")}}, steps: map[string]Change{"a": ""}, saw: []string{"a"}},
		"it has gone, of a part": {setCase: setCase{manifest: declare("b", "") + declare("c", ""), gone: []state.Transferred{went("a")}, chosen: Selection{Targets: []string{"b"}}},
			steps: map[string]Change{"a": ""}},
		"it is given away": {setCase: setCase{manifest: "removed {\n  from = resource.a\n  to = \"/other\"\n}\n", prior: recorded},
			steps: map[string]Change{"a": Forget}, why: map[string]string{"a": "goes"}},
	}
}

// Neither side acts on what is on its way, and both say what went and came until a manifest agrees with it.
func TestTransfers_WhatBecomesOfThem(t *testing.T) {
	t.Parallel()
	for name, c := range transferCases() {
		if c.jobs == nil {
			c.jobs = &jobs{list: []string{"a"}}
		}
		p, diags := c.build(t)
		if p == nil {
			t.Errorf("%s: %v", name, diags)
			continue
		}
		for addr, want := range c.steps {
			var is Change
			if step := p.Resources[addr]; step != nil {
				is = step.Change()
			}
			if is != want {
				t.Errorf("%s: %s is %q, want %q", name, addr, is, want)
			}
		}
		for addr, want := range c.why {
			if step := p.Resources[addr]; step == nil || string(step.Reason.Code) != want {
				t.Errorf("%s: the step of %s is %+v, want the reason %s", name, addr, step, want)
			}
		}
		for addr, want := range c.left {
			if why := p.Unreached[addr]; why == nil || string(why.Code) != want {
				t.Errorf("%s: %s is left because of %v, want %s", name, addr, why, want)
			}
		}
		if saw := p.Saw(); !slices.Equal(saw, c.saw) {
			t.Errorf("%s: it agrees with %q, want %q", name, saw, c.saw)
		}
	}
}
