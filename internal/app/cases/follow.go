package cases

import (
	"encoding/json"
	"maps"
	"time"

	"deployster/config"
	"deployster/internal/app/draft"
	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/plan/observe"
	"deployster/state"
)

// ended is what a case leaves to one that follows it.
type ended struct {
	manifest  *config.Manifest
	plan      *plan.Plan
	world     *world
	prior     state.Snapshot
	variables []config.VarInput
}

// result is the state after an apply of the plan of a case, and the objects there are then. given are the objects of
// the case that follows: what they have in addition to a config was made by the apply.
func (e ended) result(given map[string]map[string]config.TestObject, now time.Time) (state.Snapshot,
	map[string]map[string]config.TestObject, error) {
	m, err := draft.Expanded(e.manifest, e.plan)
	if err != nil {
		return state.Snapshot{}, nil, err
	}
	out := state.Snapshot{Format: e.prior.Format, Lineage: "test", Serial: e.prior.Serial + 1, Resources: maps.Clone(e.prior.Resources),
		Outputs: map[string]state.Output{}}
	if out.Resources == nil {
		out.Resources = map[string]state.Entry{}
	}
	objects := map[string]map[string]config.TestObject{}
	for reference, list := range e.world.objects {
		objects[reference] = maps.Clone(list)
	}
	states, needs := config.States{}, e.plan.Needs()
	for _, layer := range e.plan.Layers {
		for _, addr := range layer {
			step := e.plan.Resources[addr]
			if step == nil {
				continue
			}
			switch step.Change() {
			case observe.Destroy, observe.Forget:
				delete(out.Resources, addr)
				delete(objects[step.Type], addr)
				continue
			}
			entry, err := e.made(m, addr, step, states, given[step.Type][addr].State)
			if err != nil {
				return state.Snapshot{}, nil, err
			}
			entry.Dependencies, entry.ValidAt = needs[addr], now
			out.Resources[addr] = entry
			if objects[step.Type] == nil {
				objects[step.Type] = map[string]config.TestObject{}
			}
			objects[step.Type][addr] = config.TestObject{State: entry.State}
			states[addr] = config.ResourceState{Known: entry.State, Complete: true, Schema: step.Init.StateSchema}
		}
	}
	values, diags := m.Outputs(states)
	if diags.HasErrors() {
		return state.Snapshot{}, nil, diags
	}
	for _, v := range values {
		if e.plan.Outputs[v.Name].LeftOut {
			if was, known := e.prior.Outputs[v.Name]; known {
				out.Outputs[v.Name] = was
			}
			continue
		}
		out.Outputs[v.Name] = state.Output{Value: v.Value, Sensitive: v.Sensitive, Export: v.Export}
	}
	return out, objects, nil
}

// made returns the entry of a resource that is VALID after the apply. given is what the case that follows has of its object.
func (e ended) made(m *config.Manifest, addr string, step *plan.Step, states config.States, given json.RawMessage) (state.Entry, error) {
	conf, diags := m.Config(addr, states)
	if diags.HasErrors() {
		return state.Entry{}, diags
	}
	for pointer, why := range conf.Unknown {
		return state.Entry{}, diag.Errorf("The case cannot be followed", "The config of %s has an unknown value at %s (%s). Give the "+
			"world of the case that follows what is known of it after an apply.", addr, pointer, why)
	}
	object, declared := map[string]json.RawMessage{}, members(conf.Value)
	for _, from := range []json.RawMessage{e.world.objects[step.Type][addr].State, given} {
		for name, value := range members(from) {
			if _, is := declared[name]; !is { // the apply gives it what the config has
				object[name] = value
			}
		}
	}
	entry := state.Entry{Type: step.Type, Digest: step.Init.Digest, Config: observe.Recordable(e.world, step.Init, conf.Value),
		State: e.world.state(step.Init, conf.Value, nil, encode(object)), Aliases: step.Aliases, Settings: step.Settings,
		Mounts:   step.Mounts,
		ReadOnly: step.ReadOnly, PreventDestroy: step.Protect, OnRemove: step.OnRemove, Identity: step.Init.Identity, Kind: step.Init.Kind,
		Sensitive: state.Sensitive{Config: conf.Sensitive}}
	if list := e.world.CheckState(step.Init, entry.State); len(list) > 0 {
		return state.Entry{}, diag.Errorf("The case cannot be followed", "%s: %s. Add it to %s in the world of the case that follows.",
			addr, list[0].Sentence(), addr)
	}
	return entry, nil
}

// over returns objects with those of a case in the place of the same ones: a member that it gives replaces one, and
// an object that is null is gone.
func over(objects, given map[string]map[string]config.TestObject) map[string]map[string]config.TestObject {
	out := map[string]map[string]config.TestObject{}
	for reference, list := range objects {
		out[reference] = maps.Clone(list)
	}
	for reference, list := range given {
		if out[reference] == nil {
			out[reference] = map[string]config.TestObject{}
		}
		for addr, object := range list {
			if object.State != nil {
				all := members(out[reference][addr].State)
				maps.Copy(all, members(object.State))
				object.State = encode(all)
			}
			out[reference][addr] = object
		}
	}
	return out
}

// typesOf returns the type of each resource, by address: those of a manifest, and those that are recorded.
func typesOf(m *config.Manifest, prior state.Snapshot) map[string]string {
	types := map[string]string{}
	for addr, entry := range prior.Resources {
		types[addr] = entry.Type
	}
	for _, r := range m.Resources() {
		types[r.Address] = r.TypeRef
	}
	return types
}
