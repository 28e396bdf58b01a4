package planfile

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"sync/atomic"

	"deployster/internal/base/jsondoc"
	"deployster/internal/base/parallel"
	"deployster/internal/runner"
	"deployster/plan"
	"deployster/protocol"
)

// document is plan.json, taken apart where it is as this tool writes it.
type document struct {
	content   []byte
	members   map[string]json.RawMessage // without the resources; nil = something in it is unusual
	resources map[string]json.RawMessage // by address
}

func open(content []byte) document {
	members, err := jsondoc.OwnObject(content)
	if err != nil || members["format"] == nil {
		return document{content: content}
	}
	resources, err := jsondoc.OwnObject(members["resources"])
	if err != nil {
		return document{content: content}
	}
	delete(members, "resources")
	return document{content, members, resources}
}

// format is the version that the document names.
func (d document) format() (int, error) {
	var head struct{ Format int }
	if d.members == nil {
		err := json.Unmarshal(d.content, &head)
		return head.Format, err
	}
	err := json.Unmarshal(d.members["format"], &head.Format)
	return head.Format, err
}

// plan reads the document, all of whose keys must be known. There may be a
// hundred thousand resources: they are read one by one, on all processors. What
// is unusual is read as a whole, and that says too what is wrong with it.
func (d document) plan() (*plan.Plan, error) {
	p := &plan.Plan{}
	if d.members != nil {
		rest, err := jsondoc.Encode(d.members)
		if err == nil && jsondoc.DecodeStrict(rest, p) == nil && p.Resources == nil {
			if p.Resources = decodeSteps(d.resources); p.Resources != nil {
				return p, nil
			}
		}
	}
	p = &plan.Plan{}
	return p, jsondoc.DecodeStrict(d.content, p)
}

// decodeSteps gives nothing when one of them cannot be read.
func decodeSteps(resources map[string]json.RawMessage) map[string]*plan.Step {
	addresses := slices.Collect(maps.Keys(resources))
	steps := make([]*plan.Step, len(addresses))
	var failed atomic.Bool
	parallel.For(len(addresses), func(from, to int) {
		known := shared{texts: map[string]string{}, types: map[string]protocol.Type{}, mounts: map[string][]runner.Mount{}}
		for i := from; i < to; i++ {
			var err error
			if steps[i], err = known.step(resources[addresses[i]]); err != nil {
				failed.Store(true)
			}
		}
	})
	if failed.Load() {
		return nil
	}
	out := make(map[string]*plan.Step, len(addresses))
	for i, addr := range addresses {
		out[addr] = steps[i]
	}
	return out
}

// shared is what many steps have in common: it is read once, and they share it.
type shared struct {
	texts  map[string]string        // by themselves
	types  map[string]protocol.Type // by their JSON, as what follows
	mounts map[string][]runner.Mount
}

// step reads one step. What nearly all are made of is read by hand; a step that
// has anything else is left to encoding/json.
func (k *shared) step(raw json.RawMessage) (*plan.Step, error) {
	s := &plan.Step{}
	usual := true
	usual = jsondoc.Members(raw, func(key string, value json.RawMessage) {
		usual = usual && k.member(s, key, value)
	}) && usual
	if usual {
		return s, nil
	}
	s = nil
	return s, jsondoc.DecodeStrict(raw, &s)
}

// member takes one member, or says that it takes more to read it.
func (k *shared) member(s *plan.Step, key string, value json.RawMessage) bool {
	switch key {
	case "type":
		s.Type = k.one(value)
		return value[0] == '"'
	case "change":
		s.Change = plan.Change(k.one(value))
		return value[0] == '"'
	case "on_remove":
		s.OnRemove = k.one(value)
		return value[0] == '"'
	case "reason":
		s.Reason = jsondoc.Text(value)
		return value[0] == '"'
	case "source":
		s.Source = jsondoc.Text(value)
		return value[0] == '"'
	case "config":
		s.Config = bytes.Clone(value) // not with the whole document around it
	case "state":
		s.State = bytes.Clone(value)
	case "unknown":
		return json.Unmarshal(value, &s.Unknown) == nil
	case "actions":
		return jsondoc.DecodeStrict(value, &s.Actions) == nil
	case "settings":
		return string(value) == "{}"
	case "init":
		return once(k.types, value, &s.Init)
	case "mounts":
		return once(k.mounts, value, &s.Mounts)
	default:
		return false
	}
	return true
}

// one is a text that many steps have.
func (k *shared) one(value json.RawMessage) string {
	text := jsondoc.Text(value)
	if kept, ok := k.texts[text]; ok {
		return kept
	}
	k.texts[text] = text
	return text
}

// once reads what is the same in many steps when it comes for the first time.
func once[T any](known map[string]T, value json.RawMessage, into *T) bool {
	kept, ok := known[string(value)]
	if !ok {
		if jsondoc.DecodeStrict(value, &kept) != nil {
			return false
		}
		known[string(value)] = kept
	}
	*into = kept
	return true
}
