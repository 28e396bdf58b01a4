package config

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/expand"
	"deployster/config/instance"
	"deployster/config/refs"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// Hosts returns the declared hosts, sorted by name.
func (m *Manifest) Hosts() []Host {
	var list []Host
	for _, s := range m.instances.Modules.Hosts.Sets {
		list = append(list, s.List...)
	}
	slices.SortFunc(list, func(a, b Host) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// WithHosts returns a new manifest whose hosts, by name, have the facts in found;
// late reports how to reach hosts whose blocks depend on states. It does not change m.
func (m *Manifest) WithHosts(found map[string]protocol.HostFacts, late map[string]runner.Host) (*Manifest, diag.Diagnostics) {
	return m.again(func() (*expand.Instances, hcl.Diagnostics) { return m.instances.WithHosts(found, late) })
}

// LateHost returns how to reach a host whose block depends on states, as far as they are
// known; late is false if the block depends on none, or no such host is declared. open
// holds the references whose values are still unknown.
func LateHost(m *Manifest, name string, s States) (host runner.Host, open []string, late bool, diags diag.Diagnostics) {
	if h := m.instances.Modules.Hosts.Named[name]; h == nil || len(h.Late) == 0 {
		return runner.Host{}, nil, false, nil
	}
	host, open, found := expand.LateHost(m.instances, name, s)
	return host, open, true, m.instances.Modules.Convert(found)
}

// ParseHost parses a host in a list of addresses, host.web or host.web["a"], and
// returns its name as plans print it: web, web["a"].
func ParseHost(text string) (name string, ok bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "host.") {
		return "", false
	}
	t, diags := hclsyntax.ParseTraversalAbs([]byte(text), "", hcl.InitialPos)
	if diags.HasErrors() || len(t) < 2 || len(t) > 3 || refs.StepName(t, 1) == "" {
		return "", false
	}
	if name = refs.StepName(t, 1); len(t) == 2 {
		return name, true
	}
	step, ok := t[2].(hcl.TraverseIndex)
	if !ok {
		return "", false
	}
	x := instance.Expansion{Repetition: instance.ForEach, Keys: []string{refs.ObjectKey(step)}}
	if step.Key.Type() == cty.Number {
		return name + "[" + refs.ObjectKey(step) + "]", true
	}
	return name + instance.Occurrence{Of: &x}.Key(), true
}
