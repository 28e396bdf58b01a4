package plan

import (
	"maps"
	"slices"

	"deployster/internal/base/diag"
	"deployster/state"
)

// Scheduled is a scheduled operation as the plan leaves it.
type Scheduled struct {
	state.Scheduled
	Changed bool `json:"changed,omitempty"` // differs from what the state has, or is new
	Removed bool `json:"removed,omitempty"` // the state has it, and no manifest declares it
}

// scheduled returns the operations of the manifest and of the state. It is nil, and they stay unchanged,
// for a plan that leaves out something, or only records.
func (a assembly) scheduled() map[string]Scheduled {
	if a.subject.Partial() || a.subject.Selection.RefreshOnly {
		return nil
	}
	var all map[string]Scheduled
	put := func(name string, s Scheduled) {
		if all == nil {
			all = map[string]Scheduled{}
		}
		all[name] = s
	}
	for _, o := range a.subject.Manifest.Unattended().Operations() {
		one := state.Scheduled{Resource: o.Resource, Run: o.Run, Input: o.Input.Value, Sensitive: o.Input.Sensitive, Schedule: o.Schedule}
		if a.subject.Manifest.Resource(o.Resource) == nil {
			a.session.Findings.Report(nil, "", diag.Diagnostics{a.subject.Manifest.Diagnose(diag.Errorf("Undeclared resource", "The "+
				"operation "+
				"%q runs on %s, which is not declared.", o.Name, o.Resource), &o.Range)})
		}
		was, known := a.subject.Prior.Operations[o.Name]
		put(o.Name, Scheduled{Scheduled: one, Changed: !known || !was.Same(one)})
	}
	for name, was := range a.subject.Prior.Operations {
		if _, declared := all[name]; !declared {
			put(name, Scheduled{Scheduled: was.Scheduled, Removed: true})
		}
	}
	return all
}

// Schedules returns the operations that an apply records, and whether they differ from those of the state.
func (p *Plan) Schedules() (declared map[string]state.Scheduled, changed bool) {
	declared = map[string]state.Scheduled{}
	for name, o := range p.Operations {
		if changed = changed || o.Changed || o.Removed; !o.Removed {
			declared[name] = o.Scheduled
		}
	}
	return declared, changed
}

// ScheduledNames returns the names of the operations that change, sorted.
func (p *Plan) ScheduledNames() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(p.Operations)), func(name string) bool {
		return !p.Operations[name].Changed && !p.Operations[name].Removed
	})
}
