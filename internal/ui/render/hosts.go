package render

import (
	"fmt"
	"maps"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/natural"
	"deployster/internal/runner"
	"deployster/plan"
)

// onThem says on which hosts a block's resources are: of one also how it is reached;
// "" = here.
func (b *block) onThem(o Options) string {
	if b.hosts == nil {
		return ""
	}
	if len(b.hosts) == 1 {
		return onHost(b.step.Settings.Host)
	}
	shown := natural.Sorted(maps.Keys(b.hosts))
	more := ""
	if most := o.names(); len(shown) > most+1 {
		shown, more = shown[:most], fmt.Sprintf(" and %d more", len(shown)-most)
	}
	return "on " + diag.Visible(strings.Join(shown, ", ")) + more
}

// onHost says on which host something is; "" = here.
func onHost(h *runner.Host) string {
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

// at notes where a step of the block is.
func (b *block) at(host *runner.Host) {
	if host == nil {
		return
	}
	if b.hosts == nil {
		b.hosts = map[string]bool{}
	}
	b.hosts[host.Name] = true
}

// joined takes over where the steps of another block are.
func (b *block) joined(other *block) {
	for name := range other.hosts {
		b.hosts[name] = true
	}
}

// place tells steps that are here from those on hosts.
func place(s *plan.Step) string {
	if s.Settings.Host == nil {
		return "here"
	}
	return "on a host"
}
