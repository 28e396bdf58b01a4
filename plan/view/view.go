package view

import (
	"encoding/json"
	"maps"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/protocol"
	"deployster/state"
	"deployster/state/moves"
)

// View is a resource as those that depend on it see it at some moment: while
// planning an expectation, while applying the truth.
type View struct {
	Type    string
	Config  json.RawMessage
	State   json.RawMessage // nil = nothing known yet
	Hidden  []string        // JSON pointers into State of what must never be shown
	Schema  json.RawMessage // that its states match, if its image gave one
	Partial bool            // State is a forecast or what is there now: more may come
	Stays   bool            // State is what is there now with the forecast: as a whole it is expected to be so
	Unknown []string        // JSON pointers into State: what is known only after the actions
	Staying []string        // JSON pointers into State: what is expected to stay, and may change
	Status  protocol.Status
	Actions []string          // names of what is planned
	Aliases map[string]string // of its own dependencies: alias -> address
}

// Recorded is how what is removed sees what it depends on: as the state file has
// it, because that goes later, or stays. What is not recorded is as look says.
func Recorded(s state.Snapshot, look func(addr string) View) func(addr string) View {
	return func(addr string) View {
		e, ok := s.Resources[addr]
		if !ok {
			return look(addr)
		}
		if e.Incomplete() {
			return View{Type: e.Type, Config: e.Config, Status: protocol.Missing, Partial: true, Aliases: e.Aliases}
		}
		return View{Type: e.Type, Config: e.Config, State: e.State, Hidden: e.Sensitive.State, Status: protocol.Valid, Aliases: e.Aliases}
	}
}

// Overlay lays the top-level keys of one JSON object over another. It serves
// forecasts, which name the part of a state that is known before it is so.
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

// Scope is what expressions may know of the given resources; prior is what the
// state file says, for what ignore_changes keeps.
func Scope(addresses []string, look func(addr string) View, prior state.Snapshot) config.States {
	scope := config.States{}
	for _, addr := range addresses {
		v := look(addr)
		known := config.ResourceState{Known: v.State, Complete: v.State != nil && !v.Partial, Sensitive: v.Hidden, Schema: v.Schema,
			Expected: v.Stays, Unknown: v.Unknown, MayChange: v.Staying}
		if entry, ok := prior.Completed(addr); ok { // what was only tried is not what ignore_changes keeps
			known.Last = &config.LastConfig{Value: entry.Config, Sensitive: entry.Sensitive.Config}
		}
		scope[addr] = known
	}
	return scope
}

// maxTree bounds the tree of dependencies that protocol 1 sends: what is reached
// on several ways stands in it several times.
const maxTree = 10_000

// Dependencies is what an image is told of the resources behind its aliases: in
// protocol 1 with those behind theirs, and so on; in protocol 2 nothing, unless
// its type asked for it, and then these only.
func Dependencies(ty protocol.Type, aliases map[string]string, look func(addr string) View) (map[string]protocol.Dependency, error) {
	if ty.Protocol != 1 && !ty.Dependencies {
		return nil, nil
	}
	left := maxTree
	deps := dependencies(aliases, look, ty.Protocol == 1, &left)
	if left < 0 {
		return nil, diag.Errorf("Too many dependencies",
			"Version 1 of the protocol tells an image all that its resource depends on, on every way that leads there, and that is more than %d "+
				"entries here. Name fewer resources in `dependencies`, and use depends_on where only the order matters.", maxTree)
	}
	return deps, nil
}

func dependencies(aliases map[string]string, look func(addr string) View, deep bool, left *int) map[string]protocol.Dependency {
	if *left -= len(aliases); *left < 0 || len(aliases) == 0 {
		return nil
	}
	deps := make(map[string]protocol.Dependency, len(aliases))
	for alias, addr := range aliases {
		v := look(addr)
		name, _ := moves.RecordedAt(addr)
		d := protocol.Dependency{Name: name, Type: v.Type, Config: v.Config, State: v.State, Properties: v.State, Status: v.Status,
			Actions: v.Actions}
		if deep {
			d.Dependencies = dependencies(v.Aliases, look, deep, left)
		}
		deps[alias] = d
	}
	return deps
}
