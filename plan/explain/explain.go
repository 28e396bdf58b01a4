package explain

import (
	"maps"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/plan/subject"
	"deployster/plan/view"
	"deployster/state"
)

// Explanation says what makes a step what it is.
type Explanation struct {
	Address string
	Step    *plan.Step
	Prior   *state.Entry // what was recorded of it before; nil = nothing, or it is not known

	// Lost says that the state file has changed since the plan was made, so that
	// what was recorded then is not known.
	Lost bool

	// Config are the pointers into its config to be explained, with what each
	// value is made of.
	Config []ConfigValue

	// Needs are the resources whose states its config takes values from or that
	// it waits for, in the order of their addresses.
	Needs []Need
}

// ConfigValue is one value of a config.
type ConfigValue struct {
	Pointer string
	Inputs  []config.Input
}

// Need is a resource that another one waits for.
type Need struct {
	Address string
	Step    *plan.Step // nil = it is not in the plan
}

// Resource says what makes the change of one resource; of the values at the
// pointers into its config that pick chooses, all that they are made of. The
// manifest is the plan's own. The state file is the one the plan was made from,
// or what has become of it.
func Resource(p *plan.Plan, m *config.Manifest, s state.Snapshot, addr string,
	pick func(*plan.Step, *state.Entry) []string) (*Explanation, error) {
	step := p.Resources[addr]
	if step == nil {
		return nil, diag.Errorf("No such resource in the plan", "%s is not in it.%s", addr, subject.NearMiss(addr,
			slices.Collect(maps.Keys(p.Resources))))
	}
	moved, err := s.Moved(p.Moves)
	if err != nil {
		moved = s // they were moved already
	}
	e := &Explanation{Address: addr, Step: step, Prior: entryOf(moved, addr)}
	was := addr
	if step.MovedFrom != "" {
		was = step.MovedFrom
	}
	if s.Pin(was) != p.Entries[was] {
		e.Prior, e.Lost = nil, true
	}
	scope := view.Scope(slices.Sorted(maps.Keys(p.Resources)), func(a string) view.View {
		if step := p.Resources[a]; step != nil {
			return step.View()
		}
		return view.View{Partial: true}
	}, moved)
	for _, pointer := range pick(step, e.Prior) {
		inputs := m.Inputs(addr, pointer, scope)
		for i := range inputs {
			if name, ok := variableName(inputs[i].What); ok && inputs[i].Given != "" && p.VariableOrigins[name] != "" {
				inputs[i].Given = p.VariableOrigins[name]
			}
		}
		e.Config = append(e.Config, ConfigValue{Pointer: pointer, Inputs: inputs})
	}
	for _, before := range p.Before()[addr] {
		e.Needs = append(e.Needs, Need{Address: before, Step: p.Resources[before]})
	}
	slices.SortFunc(e.Needs, func(a, b Need) int {
		if a.Address < b.Address {
			return -1
		}
		return 1
	})
	return e, nil
}

// variableName is the name in var.NAME, or in a path below it.
func variableName(what string) (string, bool) {
	rest, ok := strings.CutPrefix(what, "var.")
	if i := strings.IndexAny(rest, ".["); i >= 0 {
		rest = rest[:i]
	}
	return rest, ok
}

func entryOf(s state.Snapshot, addr string) *state.Entry {
	if entry, ok := s.Resources[addr]; ok {
		return &entry
	}
	return nil
}
