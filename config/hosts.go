package config

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/expand"
	"deployster/internal/base/diag"
)

// Hosts returns the declared hosts, sorted by name.
func (m *Manifest) Hosts() []Host {
	var list []Host
	for _, s := range m.instances.Hosts.Sets {
		list = append(list, s.List...)
	}
	slices.SortFunc(list, func(a, b Host) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// WithHosts gives the manifest in which hosts, by their names, have the facts that
// were found. It leaves this one as it is.
func (m *Manifest) WithHosts(found map[string]HostFacts) (*Manifest, diag.Diagnostics) {
	return m.again(func() (*expand.Instances, hcl.Diagnostics) { return m.instances.WithHosts(found) })
}
