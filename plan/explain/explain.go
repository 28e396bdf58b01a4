package explain

import (
	"maps"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/plan/observe"
	"deployster/plan/subject"
	"deployster/state"
	"deployster/state/moves"
)

// Explanation reports why a step is as it is.
type Explanation struct {
	Address string
	Step    *plan.Step
	Prior   *state.Entry // its entry before the plan; nil = none, or it is not known

	// Lost reports that the entry has changed since the plan was made, so that the
	// entry of then is not known.
	Lost bool

	// Config are the explained pointers into the step's config, with the inputs of
	// each value.
	Config []ConfigValue

	// Needs are the resources that the step waits for, also those that its config
	// takes values from, in the order of their addresses.
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

// Resource explains the step of one resource, with the inputs of the config values
// whose pointers pick returns. The manifest is the plan's own. The state is the one
// that the plan was made from, or a later one.
func Resource(p *plan.Plan, m *config.Manifest, s state.Snapshot, addr string,
	pick func(*plan.Step, *state.Entry) []string) (*Explanation, error) {
	step := p.Resources[addr]
	for later, l := range p.Later {
		if later == addr || moves.Covers(later, addr) && l.Sort == plan.LaterBlock {
			return nil, diag.Errorf("Deferred to a later round", "%s is not decided yet: %s. The plan of that round explains it.", addr,
				l.Reason.Words())
		}
	}
	if step == nil {
		return nil, diag.Errorf("No such resource in the plan", "%s is not in it.%s", addr, subject.NearMiss(addr,
			slices.Collect(maps.Keys(p.Resources))))
	}
	moved, err := s.Moved(p.Moves)
	if err != nil {
		moved = s // the moves were made already
	}
	e := &Explanation{Address: addr, Step: step, Prior: entryOf(moved, addr)}
	was := addr
	if step.MovedFrom != "" {
		was = step.MovedFrom
	}
	if s.Pin(was) != p.Entries[was] {
		e.Prior, e.Lost = nil, true
	}
	scope := observe.States(slices.Sorted(maps.Keys(p.Resources)), func(a string) observe.View {
		if step := p.Resources[a]; step != nil {
			return step.View()
		}
		return observe.View{Partial: true}
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

// variableName returns NAME for var.NAME, or for a path below it.
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
