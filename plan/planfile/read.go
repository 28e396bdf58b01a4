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
	if d.members != nil {
		s := Document{}
		rest, err := jsondoc.Encode(d.members)
		if err == nil && jsondoc.DecodeStrict(rest, &s) == nil && s.Resources == nil {
			if s.Resources = decodeSteps(d.resources); s.Resources != nil {
				return s.load()
			}
		}
	}
	s := Document{}
	if err := jsondoc.DecodeStrict(d.content, &s); err != nil {
		return nil, err
	}
	return s.load()
}

// decodeSteps gives nothing when one of them cannot be read.
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
