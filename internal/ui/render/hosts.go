package render

import (
	"fmt"
	"maps"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/natural"
	"deployster/internal/runtime/runner"
	"deployster/plan"
)

// onThem lists the hosts of a block's resources, a single one with its address; "" = this
// machine.
func (b *block) onThem(o Options) string {
	if b.hosts == nil {
		return ""
	}
	if len(b.hosts) == 1 {
		return OnHost(b.step.Settings.Host)
	}
	shown := natural.Sorted(maps.Keys(b.hosts))
	more := ""
	if most := o.names(); len(shown) > most+1 {
		shown, more = shown[:most], fmt.Sprintf(" and %d more", len(shown)-most)
	}
	return "on " + diag.Visible(strings.Join(shown, ", ")) + more
}

// OnHost names a host with its address; "" = this machine.
func OnHost(h *runner.Host) string {
	if h == nil {
		return ""
	}
	return diag.Visible(fmt.Sprintf("on %s (%s)", h.Name, h))
}

// newBlock returns the block of one step.
func newBlock(addr string, s *plan.Step, d *detail) *block {
	b := &block{addrs: []string{addr}, step: s, detail: d}
	b.at(s.Settings.Host)
	return b
}

// at records the host of a step of the block.
func (b *block) at(host *runner.Host) {
	if host == nil {
		return
	}
	if b.hosts == nil {
		b.hosts = map[string]bool{}
	}
	b.hosts[host.Name] = true
}

// joined adds the hosts of another block's steps.
func (b *block) joined(other *block) {
	for name := range other.hosts {
		b.hosts[name] = true
	}
}

// place distinguishes steps on this machine from steps on hosts.
func place(s *plan.Step) string {
	if s.Settings.Host == nil {
		return "here"
	}
	return "on a host"
}
