package cases

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/words"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/protocol"
)

// world answers for the images of types: it has the objects of a case, and the schemas that were kept of their types.
// It implements plan.Prober.
type world struct {
	*typeschema.Checker // checks configs against schemas, and reads them

	kept    func(typeclient.Target) (protocol.Type, bool)
	objects map[string]map[string]config.TestObject // by type and address

	mu      sync.Mutex
	images  map[string]string // reference -> digest
	unknown map[string]bool   // the types of which no schemas are kept
}

// Init returns the type of a resource as its image has answered once; of another it is known only that it can
// destroy. Files of plugs are not read.
func (w *world) Init(_ context.Context, t typeclient.Target) (protocol.Type, error) {
	full, digest, err := imagestore.FullName(t.Reference)
	if err != nil {
		return protocol.Type{}, err
	}
	ty, known := w.kept(t)
	if !known {
		if digest == "" {
			digest = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(full)))
		}
		ty = protocol.Type{Reference: t.Reference, Digest: digest, Protocol: protocol.MaxVersion, Absent: true}
	}
	ty.Plugs, ty.PlugsIn = nil, nil
	w.mu.Lock()
	defer w.mu.Unlock()
	w.images[full] = ty.Digest
	if !known {
		w.unknown[t.Reference] = true
	}
	return ty, nil
}

// State answers a query of a plan in place of an image.
func (w *world) State(_ context.Context, t typeclient.Target, ty protocol.Type, in protocol.StateInput) (protocol.Answer, error) {
	object, there := w.objects[t.Reference][t.Address]
	there = there && object.State != nil
	if in.Intent == protocol.Absent {
		if !there {
			return protocol.Answer{Status: protocol.Missing}, nil
		}
		return protocol.Answer{Status: protocol.Stale, StaleState: w.state(ty, in.Config, in.Unknown, object.State),
			Actions: action("delete")}, nil
	}
	if !there {
		return protocol.Answer{Status: protocol.Missing, Actions: action("create")}, nil
	}
	state := w.state(ty, in.Config, in.Unknown, object.State)
	reasons := different(in, object.State)
	if len(reasons) > 0 {
		return protocol.Answer{Status: protocol.Stale, StaleState: state, Actions: action("update"), Reasons: reasons}, nil
	}
	if list := w.CheckState(ty, state); len(list) > 0 {
		return protocol.Answer{}, diag.Errorf("The world is not one of this type", "%s. Add it to %s in the world of the case.",
			list[0].Sentence(), t.Address)
	}
	return protocol.Answer{Status: protocol.Valid, State: state}, nil
}

// Discover finds nothing: the objects of a world are those of resources.
func (w *world) Discover(context.Context, typeclient.Target, protocol.Type, json.RawMessage) ([]typeclient.Discovered, error) {
	return nil, nil
}

// Validate finds nothing: no image runs in a test.
func (w *world) Validate(context.Context, typeclient.Target, protocol.Type, json.RawMessage,
	map[string]string) ([]protocol.Finding, error) {
	return nil, nil
}

// Images implements plan.Prober.
func (w *world) Images() map[string]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.images)
}

// state returns the state of an object: what its config and the state of its type have in common, and over it what
// the world declares.
func (w *world) state(ty protocol.Type, conf json.RawMessage, unknown []string, object json.RawMessage) json.RawMessage {
	out := map[string]json.RawMessage{}
	for name, value := range members(conf) {
		at := jsondoc.JoinPointer([]string{name})
		if slices.ContainsFunc(unknown, func(p string) bool { return p == at || len(p) > len(at) && p[:len(at)+1] == at+"/" }) {
			continue
		}
		if len(ty.StateSchema) > 0 {
			if _, has := w.FindProperty(ty.StateSchema, at); !has {
				continue
			}
		}
		out[name] = value
	}
	maps.Copy(out, members(object))
	return encode(out)
}

// different returns the members of a config that the object has with other values.
func different(in protocol.StateInput, object json.RawMessage) (list []protocol.Reason) {
	want, have := members(in.Config), members(object)
	for _, name := range slices.Sorted(maps.Keys(have)) {
		at := jsondoc.JoinPointer([]string{name})
		if value, declared := want[name]; declared && !slices.Contains(in.Unknown, at) && !bytes.Equal(value, have[name]) {
			list = append(list, protocol.Reason{Path: at, Have: have[name], Want: value})
		}
	}
	return list
}

// members returns the members of a JSON object in canonical form.
func members(object json.RawMessage) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	if canonical, err := jsondoc.Canonical(object); err == nil {
		_ = json.Unmarshal(canonical, &out) // it is an object
	}
	return out
}

func encode(object map[string]json.RawMessage) json.RawMessage {
	out, err := jsondoc.Encode(object)
	if err != nil { // each member was decoded from JSON
		panic(err)
	}
	return out
}

func action(name string) []protocol.Action {
	return []protocol.Action{{Name: name, Command: protocol.Command{Args: []string{name}}}}
}

// fits returns an error if the world of a case has what no resource of the manifest is. were are the addresses that
// the case which it follows has left.
func fits(objects map[string]map[string]config.TestObject, types map[string]string) error {
	var references []string
	for _, reference := range types {
		references = append(references, reference)
	}
	slices.Sort(references)
	references = slices.Compact(references)
	for _, reference := range slices.Sorted(maps.Keys(objects)) {
		if !slices.Contains(references, reference) {
			return diag.Errorf("Unknown type", "The world has objects of %s, and no resource has this type: %s.%s", diag.Visible(reference),
				words.ThereAre(references), words.DidYouMean(reference, references))
		}
		for _, addr := range slices.Sorted(maps.Keys(objects[reference])) {
			if types[addr] == reference {
				continue
			}
			var all []string
			for name, of := range types {
				if of == reference {
					all = append(all, name)
				}
			}
			slices.Sort(all)
			return diag.Errorf("Unknown resource", "The world has %s of %s, and there is no such resource: %s.%s", diag.Visible(addr),
				diag.Visible(reference), words.ThereAre(all), words.DidYouMean(addr, all))
		}
	}
	return nil
}
