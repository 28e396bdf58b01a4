package instance

import (
	"encoding/json"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/values"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// Host is a declared host: another machine that images can run on.
type Host struct {
	runner.Host // its name as plans print it: web, web["a"]; no address = unknown so far

	Decl   *decl.Block
	At     Scope
	Late   []string          // the attributes that depend on states, sorted
	Labels map[string]string // they need no states
}

// HostSet holds the instances of one host block.
type HostSet struct {
	Expansion
	List  []Host
	Each  []cty.Value  // the value of each in List, as far as it needs no states
	Value values.Sized // host.NAME, as far as it needs no states
}

// IsLate reports whether an attribute of it depends on states.
func (s *HostSet) IsLate() bool {
	return slices.ContainsFunc(s.List, func(h Host) bool { return len(h.Late) > 0 })
}

// Join returns host.NAME from the values of its instances.
func (s *HostSet) Join(each []cty.Value) cty.Value {
	switch s.Repetition {
	case ForEach:
		byKey := map[string]cty.Value{}
		for i, v := range each {
			byKey[s.KeyName(i)] = v
		}
		return cty.ObjectVal(byKey)
	case Counted:
		return cty.TupleVal(each)
	}
	return each[0]
}

// Hosts holds the declared hosts.
type Hosts struct {
	Sets  map[string]*HostSet // by the names of the blocks
	Named map[string]*Host    // by the names of the instances
}

// Set returns the instances of a host block, nil if the module has no such block.
func (h Hosts) Set(name string, mod *Module) *HostSet {
	if mod.Decl.Hosts[name] == nil {
		return nil
	}
	return h.Sets[name]
}

// Invalid reports whether a host block has an error.
func (h Hosts) Invalid() bool {
	for _, s := range h.Sets {
		if s.Invalid {
			return true
		}
	}
	return false
}

// factTypes is the type of facts while they are unknown.
var factTypes = cty.Object(map[string]cty.Type{"hostname": cty.String, "os": cty.String, "os_version": cty.String, "arch": cty.String,
	"kernel": cty.String, "cpus": cty.Number, "memory": cty.Number, "machine": cty.String})

// HostValue returns a host as a value of expressions, with its facts if they are known.
func HostValue(h *Host, found map[string]protocol.HostFacts) cty.Value {
	attrs := map[string]cty.Value{"name": cty.StringVal(h.Name), "address": cty.StringVal(h.Address), "facts": cty.UnknownVal(factTypes)}
	labels := make(map[string]cty.Value, len(h.Labels))
	for key, value := range h.Labels {
		labels[key] = cty.StringVal(value)
	}
	attrs["labels"] = cty.MapValEmpty(cty.String)
	if len(labels) > 0 {
		attrs["labels"] = cty.MapVal(labels)
	}
	if h.Address == "" { // a variable has no value yet
		attrs["address"] = cty.UnknownVal(cty.String)
	}
	if f, ok := found[h.Name]; ok {
		attrs["facts"] = FactsValue(f)
	}
	return cty.ObjectVal(attrs)
}

// FactsValue returns the facts of a host as a value of expressions.
func FactsValue(f protocol.HostFacts) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"hostname": cty.StringVal(f.Hostname), "os": cty.StringVal(f.OS),
		"os_version": cty.StringVal(f.OSVersion), "arch": cty.StringVal(f.Arch), "kernel": cty.StringVal(f.Kernel),
		"cpus": cty.NumberIntVal(int64(f.CPUs)), "memory": cty.NumberIntVal(f.Memory), "machine": cty.StringVal(f.Machine)})
}

// hostKey returns the key in States of a host: no resource has such an address.
func hostKey(name string) string { return "host." + name }

// KnowHost adds the facts of a host whose block depends on states.
func (s States) KnowHost(name string, facts protocol.HostFacts) {
	if text, err := json.Marshal(facts); err == nil { // texts and numbers always encode
		s[hostKey(name)] = ResourceState{Known: text, Complete: true}
	}
}

// HostFacts returns the facts that KnowHost added.
func (s States) HostFacts(name string) (facts protocol.HostFacts, known bool) {
	text := s[hostKey(name)].Known
	return facts, text != nil && json.Unmarshal(text, &facts) == nil
}
