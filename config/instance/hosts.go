package instance

import (
	"encoding/json"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/values"
	"deployster/internal/runner"
	"deployster/protocol"
)

// Host is a declared host: another machine that images can run on.
type Host struct {
	runner.Host // its name as plans print it: web, web["a"]; no address = it is not known yet

	Decl *decl.Block
	At   Scope
	Late []string // the attributes that are made of states, sorted; none = it is the same whatever there is
}

// HostSet are the instances of one host block.
type HostSet struct {
	Expansion
	List  []Host
	Each  []cty.Value  // host.NAME of each of the list, as far as that needs no states
	Value values.Sized // of all, the same
}

// IsLate reports whether something of it is made of states.
func (s *HostSet) IsLate() bool {
	return slices.ContainsFunc(s.List, func(h Host) bool { return len(h.Late) > 0 })
}

// Join makes host.NAME of what its instances are.
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

// Hosts are the declared hosts.
type Hosts struct {
	Sets  map[string]*HostSet // by the names of the blocks
	Named map[string]*Host    // by the names of the instances
}

// Set is what a host block came to, nil where no such block can be seen.
func (h Hosts) Set(name string, mod *Module) *HostSet {
	if mod.Decl.Hosts[name] == nil {
		return nil
	}
	return h.Sets[name]
}

// Invalid reports whether what a host block says is wrong.
func (h Hosts) Invalid() bool {
	for _, s := range h.Sets {
		if s.Invalid {
			return true
		}
	}
	return false
}

// factTypes are the types of facts as long as nothing is known of them.
var factTypes = cty.Object(map[string]cty.Type{"hostname": cty.String, "os": cty.String, "os_version": cty.String, "arch": cty.String,
	"kernel": cty.String, "cpus": cty.Number, "memory": cty.Number, "machine": cty.String})

// HostValue gives a host as expressions see it, with its facts if they were found.
func HostValue(h runner.Host, found map[string]protocol.HostFacts) cty.Value {
	attrs := map[string]cty.Value{"name": cty.StringVal(h.Name), "address": cty.StringVal(h.Address), "facts": cty.UnknownVal(factTypes)}
	if h.Address == "" { // a variable has no value yet
		attrs["address"] = cty.UnknownVal(cty.String)
	}
	if f, ok := found[h.Name]; ok {
		attrs["facts"] = FactsValue(f)
	}
	return cty.ObjectVal(attrs)
}

// FactsValue gives the facts of a host as expressions see them.
func FactsValue(f protocol.HostFacts) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"hostname": cty.StringVal(f.Hostname), "os": cty.StringVal(f.OS),
		"os_version": cty.StringVal(f.OSVersion), "arch": cty.StringVal(f.Arch), "kernel": cty.StringVal(f.Kernel),
		"cpus": cty.NumberIntVal(int64(f.CPUs)), "memory": cty.NumberIntVal(f.Memory), "machine": cty.StringVal(f.Machine)})
}

// hostKey is the key in States of a host: no resource has such an address.
func hostKey(name string) string { return "host." + name }

// KnowHost notes what a host was found to be that is made of states.
func (s States) KnowHost(name string, facts protocol.HostFacts) {
	if text, err := json.Marshal(facts); err == nil { // texts and numbers are always written
		s[hostKey(name)] = ResourceState{Known: text, Complete: true}
	}
}

// HostFacts gives what KnowHost has noted.
func (s States) HostFacts(name string) (facts protocol.HostFacts, known bool) {
	text := s[hostKey(name)].Known
	return facts, text != nil && json.Unmarshal(text, &facts) == nil
}
