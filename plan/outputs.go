package plan

import (
	"slices"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan/reason"
	"deployster/state"
)

// outputs evaluates the manifest's outputs with what the plan expects. Outputs
// that use something that the plan leaves out keep their recorded values.
func (a assembly) outputs(final config.States) map[string]Output {
	values, diags := a.subject.Manifest.Outputs(final)
	kept, later, more := a.keptOutputs()
	a.session.Findings.Report(nil, "", append(diags, more...))
	outputs := make(map[string]Output, len(values))
	for _, v := range values {
		prior, known := a.subject.Prior.Outputs[v.Name]
		if kept[v.Name] || a.subject.Selection.RefreshOnly && len(v.Unknown) > 0 {
			outputs[v.Name] = keptOutput(prior, known)
			continue
		}
		if later[v.Name] {
			outputs[v.Name] = laterOutput(v, prior, known)
			continue
		}
		outputs[v.Name] = Output{Value: v.Value, Unknown: v.Unknown, Sensitive: v.Sensitive, Export: v.Export,
			Changed: !known || len(v.Unknown) > 0 || string(prior.Value) != string(v.Value) || prior.Sensitive != v.Sensitive ||
				prior.Export != v.Export}
	}
	for name, prior := range a.subject.Prior.Outputs {
		if _, declared := outputs[name]; declared {
			continue
		}
		outputs[name] = Output{Value: []byte("null"), Sensitive: prior.Sensitive, Changed: true, Removed: true}
		if a.subject.Partial() {
			outputs[name] = keptOutput(prior, true)
		}
	}
	return outputs
}

// keptOutput returns an output that keeps its recorded value.
func keptOutput(prior state.Output, known bool) Output {
	if !known {
		return Output{Value: []byte("null"), LeftOut: true}
	}
	return Output{Value: prior.Value, Sensitive: prior.Sensitive, Export: prior.Export, LeftOut: true}
}

// laterOutput returns an output that a later round decides: until then it keeps its recorded value.
func laterOutput(v config.Output, prior state.Output, known bool) Output {
	out := keptOutput(prior, known)
	if len(v.Unknown) > 0 {
		out.Value, out.Unknown, out.Sensitive, out.Export, out.Changed = v.Value, v.Unknown, v.Sensitive, v.Export, true
	}
	return out
}

// keptOutputs returns the names of the outputs that use something that the plan leaves out, and of those that use only what
// waits for a later round.
func (a assembly) keptOutputs() (kept, later map[string]bool, diags diag.Diagnostics) {
	kept, later = map[string]bool{}, map[string]bool{}
	if !a.subject.Partial() {
		return kept, later, nil
	}
	waits := func(addr string) bool { return a.subject.Later[addr] != nil }
	gone := func(addr string) bool { return a.steps[addr] == nil && !waits(addr) }
	reach, diags := a.subject.Manifest.OutputReach()
	for name, r := range reach {
		left := slices.ContainsFunc(r.WaitsFor, func(addr string) bool { return !waits(addr) })
		kept[name] = left || slices.ContainsFunc(r.Resources, gone)
		later[name] = slices.ContainsFunc(r.WaitsFor, waits) || slices.ContainsFunc(r.Resources, waits)
	}
	return kept, later, diags
}

// leftOut lists what the plan leaves out, sorted: resources of the manifest and
// of the state file, and blocks whose instances are not known.
func (a assembly) leftOut() []string {
	if !a.subject.Partial() {
		return nil
	}
	from := map[string]bool{}
	for _, m := range a.moves() {
		from[m.From] = true
	}
	return slices.DeleteFunc(a.subject.Addresses(), func(addr string) bool {
		return a.steps[addr] != nil || from[addr] || a.subject.Later[addr] != nil
	})
}

// unreached returns what the plan leaves out because of hosts, with the reasons.
func (a assembly) unreached() map[string]*reason.Reason {
	left := map[string]*reason.Reason{}
	for _, addr := range a.leftOut() {
		if why := a.subject.LeftOut[addr]; why != nil {
			left[addr] = why
		}
	}
	return left
}
