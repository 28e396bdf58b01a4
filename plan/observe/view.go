package observe

import (
	"encoding/json"
	"maps"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/protocol"
	"deployster/state"
	"deployster/state/moves"
)

// View is a resource as its dependants see it: while planning as it is expected to be,
// while applying as it is.
type View struct {
	Type    string
	Config  json.RawMessage
	State   json.RawMessage // nil = nothing is known yet
	Hidden  []string        // JSON pointers into State: values that must never be shown
	Schema  json.RawMessage // the schema of its states, if its image gave one
	Partial bool            // State is a forecast or the present state: it is not complete
	Stays   bool            // State is the present state with the forecast, and is expected as a whole
	Unknown []string        // JSON pointers into State: values known only after the actions
	Staying []string        // JSON pointers into State: values that are expected to stay, but may change
	Status  protocol.Status
	Actions []string          // names of the planned actions
	Aliases map[string]string // of its own dependencies: alias -> address
}

// RecordedViews returns how a removed resource sees its dependencies: as the state file has
// them, because they are removed later, or stay. Without an entry, view is used.
func RecordedViews(s state.Snapshot, view func(addr string) View) func(addr string) View {
	return func(addr string) View {
		e, ok := s.Resources[addr]
		if !ok {
			return view(addr)
		}
		if e.Incomplete() {
			return View{Type: e.Type, Config: e.Config, Status: protocol.Missing, Partial: true, Aliases: e.Aliases}
		}
		return View{Type: e.Type, Config: e.Config, State: e.State, Hidden: e.Sensitive.State, Status: protocol.Valid, Aliases: e.Aliases}
	}
}

// Recorded returns a function that gives a resource as the state file has it, and nothing of one
// without an entry.
func Recorded(s state.Snapshot) func(addr string) View {
	return RecordedViews(s, func(string) View { return View{Partial: true} })
}

// Overlay puts the top-level keys of one JSON object over those of another. It serves
// forecasts, which have the part of a state that is known before the actions.
func Overlay(base, top json.RawMessage) json.RawMessage {
	if len(top) == 0 {
		return base
	}
	var under, over map[string]json.RawMessage
	if json.Unmarshal(base, &under) != nil || under == nil || json.Unmarshal(top, &over) != nil {
		return top
	}
	maps.Copy(under, over)
	merged, err := json.Marshal(under)
	if err != nil {
		return top
	}
	return merged
}

// States returns the states that expressions may use of the given resources. prior is the
// recorded state, for the values that ignore_changes keeps.
func States(addresses []string, view func(addr string) View, prior state.Snapshot) config.States {
	scope, recorded := make(config.States, len(addresses)), make([]config.LastConfig, 0, len(addresses))
	for _, addr := range addresses {
		v := view(addr)
		known := config.ResourceState{Known: v.State, Complete: v.State != nil && !v.Partial, Sensitive: v.Hidden, Schema: v.Schema,
			Expected: v.Stays, Unknown: v.Unknown, MayChange: v.Staying}
		if entry, ok := prior.Completed(addr); ok { // ignore_changes keeps no values of an incomplete entry
			recorded = append(recorded, config.LastConfig{Value: entry.Config, Sensitive: entry.Sensitive.Config})
			known.Last = &recorded[len(recorded)-1]
		}
		scope[addr] = known
	}
	return scope
}

// maxTree limits the tree of dependencies that protocol 1 sends: a resource that is
// reached in several ways is in it several times.
const maxTree = 10_000

// Dependencies returns what an image is shown of the resources behind its aliases: in
// protocol 1 with the resources behind their aliases, and so on; in protocol 2 nothing,
// unless the type requests it, and then only the resources behind its own aliases.
func Dependencies(ty protocol.Type, aliases map[string]string, view func(addr string) View) (map[string]protocol.Dependency, error) {
	if ty.Protocol != 1 && !ty.Dependencies {
		return nil, nil
	}
	left := maxTree
	deps := dependencies(aliases, view, ty.Protocol == 1, &left)
	if left < 0 {
		return nil, diag.Errorf("Too many dependencies",
			"Version 1 of the protocol sends an image all direct and indirect dependencies of its resource, and these are more than %d "+
				"entries here. Name fewer resources in `dependencies`, and use depends_on where only the order matters.", maxTree)
	}
	return deps, nil
}

func dependencies(aliases map[string]string, view func(addr string) View, deep bool, left *int) map[string]protocol.Dependency {
	if *left -= len(aliases); *left < 0 || len(aliases) == 0 {
		return nil
	}
	deps := make(map[string]protocol.Dependency, len(aliases))
	for alias, addr := range aliases {
		v := view(addr)
		name, _ := moves.RecordedAt(addr)
		known := jsondoc.Without(v.State, v.Unknown) // a list with an element that is not known yet is not known
		d := protocol.Dependency{Name: name, Type: v.Type, Config: v.Config, State: known, Properties: known, Status: v.Status,
			Actions: v.Actions}
		if deep {
			d.Dependencies = dependencies(v.Aliases, view, deep, left)
		}
		deps[alias] = d
	}
	return deps
}
