package testprovider_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"deployster/protocol"
)

// source is the label of the things whose attributes others are made of.
const source = "source" + replaced

// ref stands in a config for the attribute "thing" of the source of a kind.
type ref string

// each stands for as many blocks as the source of a kind has items. There is none for blocks
// in a map: terraform wants their keys to be known.
type each struct{ ref }

// late is one resource that is made of what is known only after the sources were made.
type late struct {
	kind, label string
	config      object
}

// lateKinds are the plain types whose sources are used.
var lateKinds = []string{"text", "number", "bool", "list", "set", "map", "object", "tuple", "objects", "sets", "dynamic"}

// from is the source that is of a plain type.
func from(plain string) ref { return ref("test_" + plain + "_computed") }

// lateOnes are the configurations with values that are not known yet: each type with each
// flag, a part of each collection, blocks and nested attributes of each mode.
func lateOnes(protocol int) (out []late) {
	add := func(kind, name string, thing any) {
		out = append(out, late{kind: "test_" + kind, label: fmt.Sprintf("u%d-%s", len(out), name), config: object{"thing": thing}})
	}
	text, rule := from("text"), []string{"required", "optional", "both", "sensitive", "secret", "writeonly"}
	for i, plain := range lateKinds {
		for _, flag := range []string{rule[i%6], rule[(i+2)%6], rule[(i+5)%6]} {
			add(plain+"_"+flag, "whole", from(plain))
		}
	}
	for _, flag := range []string{"optional", "both"} {
		add("list_"+flag, "part", []any{"a", text, "c"})
		add("set_"+flag, "part", []any{"a", text})
		add("map_"+flag, "part", object{"k": text, "l": "x"})
		add("object_"+flag, "part", object{"a": text, "b": []any{1, from("number")}})
		add("tuple_"+flag, "part", []any{text, true})
		add("objects_"+flag, "part", []any{object{"a": text}, object{"a": "x"}})
		add("sets_"+flag, "part", object{"k": []any{1, from("number")}, "l": []any{from("number")}})
		add("dynamic_"+flag, "part", object{"k": text, "l": []any{"x", from("bool")}})
	}
	one, another := object{"key": "a", "value": text}, object{"key": text, "value": "y"}
	for _, flag := range []string{"optional", "both", "sensitive"} {
		for _, mode := range []string{"single", "group"} {
			add("block_"+mode+"_"+flag, "value", one)
		}
		for _, mode := range []string{"list", "set"} {
			add("block_"+mode+"_"+flag, "value", []any{one, object{"key": "b"}})
			add("block_"+mode+"_"+flag, "key", []any{another, object{"key": "b"}})
		}
		add("block_map_"+flag, "value", object{"k": one, "l": object{"key": "b"}})
	}
	add("block_list_both", "each", each{from("list")})
	add("block_set_both", "each", each{from("set")})
	add("deep_list_list", "within", []any{object{"key": "a", "within": []any{object{"key": text}, object{"key": "b"}}}})
	add("deep_set_map", "within", []any{object{"key": "a", "within": object{"k": object{"value": text}}}})
	if protocol == 6 {
		for _, flags := range []string{"optional_both", "both_both", "both_optional", "optional_writeonly"} {
			add("nested_single_"+flags, "value", one)
			add("nested_list_"+flags, "value", []any{one, object{"key": "b"}})
			add("nested_map_"+flags, "value", object{"k": one, "l": object{"key": "b"}})
		}
		for _, flags := range []string{"optional_both", "both_both", "both_optional"} {
			add("nested_set_"+flags, "value", []any{one, object{"key": "b"}})
			add("nested_set_"+flags, "key", []any{another, object{"key": "b"}})
		}
	}
	for _, kind := range []string{"text_both", "list_both", "block_list_both"} { // what makes it necessary to make it anew
		out = append(out, late{kind: "test_" + kind, label: fmt.Sprintf("u%d-anew%s", len(out), replaced), config: object{"anchor": text}})
	}
	for i := range out {
		out[i].config["label"] = out[i].label
	}
	return out
}

// spelled is what is written for terraform.
func spelled(written any) any {
	switch w := written.(type) {
	case ref:
		return fmt.Sprintf("${%s.%s.thing}", w, source)
	case []any:
		out := []any{}
		for _, inner := range w {
			out = append(out, spelled(inner))
		}
		return out
	case object:
		out := object{}
		for key, inner := range w {
			block, dynamic := inner.(each)
			if !dynamic {
				out[key] = spelled(inner)
				continue
			}
			out["dynamic"] = object{key: object{"for_each": spelled(block.ref), "content": object{"key": "${" + key + ".value}"}}}
		}
		return out
	}
	return written
}

// resolved is what deployster tells the bridge: what the sources have, or null, with where
// that stands, while it is not known.
func (a *things) resolved(written any, known bool, at string, unknown *[]string) any {
	a.t.Helper()
	value := func(r ref) any {
		if !known {
			*unknown = append(*unknown, at)
			return nil
		}
		var m struct{ State object }
		if err := json.Unmarshal(a.memory[string(r)+source], &m); err != nil {
			a.t.Fatal(err)
		}
		v, packed := m.State["thing"].(object) // a dynamic value is remembered with its type
		if _, typed := v["type"]; packed && typed {
			return v["value"]
		}
		return m.State["thing"]
	}
	switch w := written.(type) {
	case ref:
		return value(w)
	case each:
		items, there := value(w.ref).([]any)
		if !there {
			return nil
		}
		out := []any{}
		for _, item := range items {
			out = append(out, object{"key": item})
		}
		return out
	case []any:
		out := []any{}
		for i, inner := range w {
			out = append(out, a.resolved(inner, known, fmt.Sprintf("%s/%d", at, i), unknown))
		}
		return out
	case object:
		out := object{}
		for key, inner := range w {
			out[key] = a.resolved(inner, known, at+"/"+key, unknown)
		}
		return out
	}
	return written
}

// ahead has the bridge asked about one before what it is made of is known, as in a plan,
// and has what is to be destroyed before everything else destroyed.
func (a *things) ahead(one late) {
	a.t.Helper()
	in := protocol.StateInput{InitInput: protocol.InitInput{Name: "a", Type: "test#" + one.kind}, Intent: protocol.Present, Memory: a.memory[one.label]}
	config, err := json.Marshal(a.resolved(one.config, false, "", &in.Unknown))
	if err != nil {
		a.t.Fatal(err)
	}
	in.Config = config
	answer, err := a.State(a.t.Context(), in, io.Discard)
	switch {
	case err != nil:
		a.t.Errorf("%s: ahead: %v", one.label, err)
		return
	case answer.ShutdownFirst == nil:
		return
	}
	if answer.Memory != nil {
		in.Memory = answer.Memory
	}
	said, err := a.Act(a.t.Context(), protocol.ActionInput{StateInput: in, Action: "delete"}, "delete", "", io.Discard)
	if err != nil || string(said) != "null" {
		a.t.Errorf("%s: destroyed first: %s, %v", one.label, said, err)
	}
	delete(a.memory, one.label)
}

// steps of things that are made of what is known only after apply: all is made, nothing
// changes, the sources are made anew and have other values then, all is removed.
const (
	lateMade = iota
	lateKept
	lateAnew
	lateGone
	lateSteps
)

// sourceOf is how a source is declared in a step.
func sourceOf(step int) object {
	if step == lateAnew {
		return object{"label": source, "anchor": "moved"}
	}
	return object{"label": source}
}

// What the provider is asked with values that are known only after apply is what terraform
// asks it: value for value, ahead and when they are known.
func TestJudge_QueriesWithValuesThatAreNotKnown(t *testing.T) {
	for _, version := range []int{5, 6} {
		t.Run(fmt.Sprint("protocol ", version), func(t *testing.T) {
			list := lateOnes(version)
			if len(list) < 60 {
				t.Errorf("only %d configurations", len(list))
			}
			if os.Getenv("DEPLOYSTER_BRIDGE_PARTS") == "" { // each second one: the others are asked for with more parts
				list = everySecond(list)
			}
			b := newBench(t, version)
			memory := map[string]json.RawMessage{}
			for step := range lateSteps {
				asked := b.recorded(func() { b.apply(lateWritten(list, step), false) })
				said := b.recorded(func() { b.bringLate(list, step, memory) })
				for key, calls := range asked {
					if step == lateKept && strings.HasSuffix(key, " ValidateResourceConfig") { // terraform looks once as if nothing was known
						asked[key] = slices.DeleteFunc(calls, func(call string) bool { return strings.Contains(call, "unknown") })
					}
				}
				if step == lateAnew {
					onlyAhead(asked, said)
				}
				unknown := 0
				for _, calls := range said {
					unknown += strings.Count(strings.Join(calls, ""), "unknown")
				}
				t.Logf("step %d: %d configurations, %d unknown values", step, len(list), unknown)
				compare(t, fmt.Sprint("step ", step), asked, said)
			}
		})
	}
}

// everySecond is half of a list.
func everySecond(list []late) (out []late) {
	for i, one := range list {
		if i%2 == 0 {
			out = append(out, one)
		}
	}
	return out
}

// onlyAhead takes away what the bridge is asked when all is known, of what is write-only:
// terraform sees ahead that the provider plans no change, as no state has the value, and
// does not ask again. Deployster does, as the plan says that it may change.
func onlyAhead(asked, said map[string][]string) {
	for key, calls := range said {
		if strings.Contains(key, "writeonly") {
			said[key] = slices.DeleteFunc(calls, func(call string) bool {
				return !strings.Contains(call, "unknown") && !slices.Contains(asked[key], call)
			})
		}
	}
}

// lateWritten is what terraform is given in a step.
func lateWritten(list []late, step int) object {
	resources := object{}
	put := func(kind, label string, config any) {
		if resources[kind] == nil {
			resources[kind] = object{}
		}
		resources[kind].(object)[label] = config
	}
	if step == lateGone {
		return object{}
	}
	for _, plain := range lateKinds {
		put(string(from(plain)), source, sourceOf(step))
	}
	for _, one := range list {
		put(one.kind, one.label, spelled(one.config))
	}
	return object{"resource": resources}
}

// bringLate does in a step what deployster does: all is asked, what is not known yet with
// null; then the sources are made, and then the others with what the sources have.
func (b *bench) bringLate(list []late, step int, memory map[string]json.RawMessage) {
	a := b.things(memory)
	defer a.Close()
	bring := func(kind, label string, config object) {
		if err := a.bring(kind, label, config, nil); err != nil {
			b.t.Errorf("%s %s: %v", kind, label, err)
		}
	}
	if step == lateGone {
		for _, one := range list {
			bring(one.kind, one.label, nil)
		}
	}
	if step == lateMade || step == lateAnew {
		for _, one := range list {
			a.ahead(one)
		}
	}
	for _, plain := range lateKinds {
		kind, config := string(from(plain)), sourceOf(step)
		if step == lateGone {
			config = nil
		}
		memory[source] = memory[kind+source]
		bring(kind, source, config)
		memory[kind+source] = memory[source]
	}
	for _, one := range list {
		if step != lateGone {
			config, _ := a.resolved(one.config, true, "", nil).(object)
			bring(one.kind, one.label, config)
		}
	}
}
