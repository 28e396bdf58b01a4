package hosts

import (
	"slices"

	"deployster/config"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/plan/subject"
)

// Sources narrows a selection to the resources that define the address of those hosts that are
// known by the state and did not answer. It also returns the names of these hosts.
func (f Reached) Sources(m *config.Manifest, late map[string]runner.Host, s plan.Selection) (made plan.Selection, down []string) {
	on := Declared(m)
	made.Only, made.Excludes, made.ExcludedHosts = s.Only, slices.Clone(s.Excludes), slices.Clone(s.ExcludedHosts)
	for _, name := range sorted(f.Pins) {
		if f.Pins[name].Unreachable == "" {
			continue
		}
		made.Excludes, made.ExcludedHosts = append(made.Excludes, on[name].Addresses...), append(made.ExcludedHosts, name)
		if _, isLate := late[name]; isLate {
			down = append(down, name)
			made.Targets = append(made.Targets, sources(m, on[name].Addresses)...)
		}
	}
	made.Targets = slices.DeleteFunc(made.Targets, func(addr string) bool { return slices.Contains(made.Excludes, addr) })
	made.Replace = slices.DeleteFunc(slices.Clone(s.Replace), func(addr string) bool { return !slices.Contains(made.Targets, addr) })
	return made, down
}

// sources returns the resources that all residents of a host depend on.
func sources(m *config.Manifest, residents []string) []string {
	var list []string
	first := true
	for _, r := range m.Resources() {
		if !slices.Contains(residents, r.Address) {
			continue
		}
		if before := subject.Predecessors(r); first {
			list, first = before, false
		} else {
			list = slices.DeleteFunc(list, func(addr string) bool { return !slices.Contains(before, addr) })
		}
	}
	return list
}
