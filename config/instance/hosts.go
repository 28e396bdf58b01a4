package instance

import (
	"github.com/zclconf/go-cty/cty"

	"deployster/config/values"
	"deployster/internal/base/diag"
	"deployster/internal/runner"
	"deployster/protocol"
)

// Host is a declared host: another machine that images can run on.
type Host struct {
	runner.Host            // its name as plans print it: web, web["a"]
	Range       diag.Range // the block's header
}

// HostSet are the instances of one host block.
type HostSet struct {
	Expansion
	List  []Host
	Each  []cty.Value  // host.NAME of each of the list
	Value values.Sized // of all
}

// Hosts are the declared hosts.
type Hosts struct {
	Sets  map[string]*HostSet     // by the names of the blocks
	Named map[string]*runner.Host // by the names of the instances
}

// Set is what a host block came to, nil where no such block can be seen.
func (h Hosts) Set(name string, mod *Module) *HostSet {
	if mod.Decl.Hosts[name] == nil {
		return nil
	}
	return h.Sets[name]
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
		attrs["facts"] = cty.ObjectVal(map[string]cty.Value{"hostname": cty.StringVal(f.Hostname), "os": cty.StringVal(f.OS),
			"os_version": cty.StringVal(f.OSVersion), "arch": cty.StringVal(f.Arch), "kernel": cty.StringVal(f.Kernel),
			"cpus": cty.NumberIntVal(int64(f.CPUs)), "memory": cty.NumberIntVal(f.Memory), "machine": cty.StringVal(f.Machine)})
	}
	return cty.ObjectVal(attrs)
}
