package objects

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/plan/match"
	"deployster/plan/plugs"
	"deployster/plan/reason"
	"deployster/protocol"
	"deployster/state"
)

// Declared describes the object that a declared resource stands for.
func Declared(schemas typeschema.Reader, reference string, ty protocol.Type, config json.RawMessage, settings runner.Settings,
	mounts []runner.Mount) match.Object {
	t := surroundingsOf(config, settings, mounts)
	t.Type = typeNamed(reference, ty.Kind, ty.Identity)
	t.Type.Memory = ty.Memory
	for i := range t.Type.Names {
		name := &t.Type.Names[i]
		if p, found := schemas.FindProperty(ty.ConfigSchema, name.Pointer); found {
			name.Default, name.Scalar = p.Default, p.Scalar
		}
	}
	return t
}

// Recorded describes the object that an entry of the state stands for.
func Recorded(e state.Entry) match.Object {
	t := surroundingsOf(e.Config, e.Settings, e.Mounts)
	t.Type = typeNamed(e.Type, e.Kind, e.Identity)
	t.Type.Memory = e.Memory != nil
	for i := range t.Type.Names {
		t.Type.Names[i].Default = e.Defaults[t.Type.Names[i].Pointer]
	}
	return t
}

// Defaults returns, by pointer, the defaults in a type's schema of the identity values that
// a config does not set. An entry keeps them: another image may need them to identify
// the object.
func Defaults(schemas typeschema.Reader, ty protocol.Type, config json.RawMessage) map[string]json.RawMessage {
	var list map[string]json.RawMessage
	tree, err := jsondoc.Value(config)
	for _, pointer := range ty.Identity {
		p, found := schemas.FindProperty(ty.ConfigSchema, pointer)
		if !found || p.Default == nil || err != nil || jsondoc.At(tree, jsondoc.Pointer(pointer)) != nil {
			continue
		}
		if list == nil {
			list = map[string]json.RawMessage{}
		}
		list[pointer] = p.Default
	}
	return list
}

// Known reports whether the identity of an object is known, if these places of its config are
// unknown. The memory of a type names its objects, whatever their configs declare.
func Known(ty protocol.Type, unknown map[string]string) bool {
	if ty.Memory {
		return true
	}
	for pointer := range unknown {
		for _, name := range ty.Identity {
			if strings.HasPrefix(name+"/", pointer+"/") || strings.HasPrefix(pointer+"/", name+"/") {
				return false
			}
		}
	}
	return true
}

// typeNamed describes a type by its image reference, its kind and its identity.
func typeNamed(reference, kind string, pointers []string) match.Type {
	reference, fragment, _ := strings.Cut(reference, "#")
	t := match.Type{Repository: plugs.Untagged(reference), Fragment: fragment, Kind: kind}
	for _, p := range pointers {
		t.Names = append(t.Names, match.Name{Pointer: p})
	}
	return t
}

// surroundingsOf describes an object without its type.
func surroundingsOf(config json.RawMessage, settings runner.Settings, mounts []runner.Mount) match.Object {
	t := match.Object{Config: config, Network: string(settings.Network)}
	if settings.Host != nil {
		t.Host, t.Machine = settings.Host.Name, settings.Host.Machine // the way to reach the host may change, so it is left out
	}
	if canonical, err := jsondoc.Canonical(config); err == nil && !bytes.Equal(canonical, config) {
		t.Config = canonical
	}
	for _, name := range jsondoc.Keys(settings.Env) {
		t.Env += name + "=" + settings.Env[name] + "\x00"
	}
	for _, m := range mounts {
		if _, _, versioned := artifact.ParseMount(m.Source); versioned || m.Content != "" {
			continue // it is only read: with another version the object is the same
		}
		plug := match.Plug{Name: m.Target, Path: m.Source, Writable: m.Writable}
		if settings.Host != nil && settings.Host.Machine == "" {
			plug.Path = "" // where it leads is found when the host is known
		}
		t.Plugs = append(t.Plugs, plug)
	}
	slices.SortFunc(t.Plugs, func(a, b match.Plug) int { return strings.Compare(a.Name, b.Name) })
	return t
}

// Changed returns how the object of a resource differs from the recorded one. It omits the
// values at sensitive pointers into the present config or the recorded one.
func Changed(list []match.Difference, now, recorded []string) *reason.Reason {
	sensitive := slices.Concat(now, recorded)
	r := reason.New(reason.Differs)
	for _, d := range list {
		from, to := d.Old, cmp.Or(d.New, "(known after apply)")
		if slices.ContainsFunc(sensitive, func(p string) bool {
			return strings.HasPrefix(d.What+"/", p+"/") || strings.HasPrefix(p+"/", d.What+"/")
		}) {
			from, to = "(sensitive)", "(sensitive)"
		}
		r.Refs = append(r.Refs, d.What, from, to)
	}
	return r
}
