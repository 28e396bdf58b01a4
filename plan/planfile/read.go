package planfile

import (
	"encoding/json"
	"maps"
	"slices"
	"sync/atomic"

	"deployster/internal/base/jsondoc"
	"deployster/internal/base/parallel"
	"deployster/plan"
)

// content is plan.json, split into members if it has the form that this tool writes.
type content struct {
	text      []byte
	members   map[string]json.RawMessage // without the resources; nil = it has another form
	resources map[string]json.RawMessage // by address
}

func open(text []byte) content {
	members, resources, err := jsondoc.OwnObjects(text, "resources")
	if err != nil || members["format"] == nil || resources == nil {
		return content{text: text}
	}
	return content{text, members, resources}
}

// format returns the format version in plan.json.
func (c content) format() (int, error) {
	var head struct{ Format int }
	if c.members == nil {
		err := json.Unmarshal(c.text, &head)
		return head.Format, err
	}
	err := json.Unmarshal(c.members["format"], &head.Format)
	return head.Format, err
}

// plan reads plan.json strictly: all keys must be known. There may be a hundred
// thousand resources: they are read one by one, on all processors. A plan.json of
// another form, or with an error, is read as a whole, which also gives the error.
func (c content) plan() (*plan.Plan, error) {
	if c.members != nil {
		s := Document{}
		rest, err := jsondoc.Encode(c.members)
		if err == nil && jsondoc.DecodeStrict(rest, &s) == nil && s.Resources == nil {
			if s.Resources = decodeSteps(c.resources); s.Resources != nil {
				return s.load()
			}
		}
	}
	s := Document{}
	if err := jsondoc.DecodeStrict(c.text, &s); err != nil {
		return nil, err
	}
	return s.load()
}

// decodeSteps reads the steps; nil = one of them cannot be read.
func decodeSteps(resources map[string]json.RawMessage) map[string]*DocumentStep {
	addresses := slices.Collect(maps.Keys(resources))
	steps := make([]*DocumentStep, len(addresses))
	var failed atomic.Bool
	parallel.For(len(addresses), func(from, to int) {
		for i := from; i < to; i++ {
			if jsondoc.DecodeStrict(resources[addresses[i]], &steps[i]) != nil {
				failed.Store(true)
			}
		}
	})
	if failed.Load() {
		return nil
	}
	out := make(map[string]*DocumentStep, len(addresses))
	for i, addr := range addresses {
		out[addr] = steps[i]
	}
	return out
}
