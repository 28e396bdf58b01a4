package hosts

import (
	"cmp"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/runtime/remote/router"
	"deployster/plan"
	"deployster/plan/objects"
	"deployster/plan/subject"
	"deployster/state"
)

// Recorded adds the recorded resources to on, by the recorded names of their hosts.
func Recorded(on map[string]*Resident, prior state.Snapshot) map[string]*Resident {
	for name, r := range (Reached{}).Former(on, prior) {
		on[name] = r
	}
	return on
}

// Selected replaces hosts in a selection by the resources on them. Resources that turn out later to
// be on an excluded host are excluded too. A host that does not exist, or a target host without
// resources, stays in the list, and is refused like an address that does not exist.
func Selected(s plan.Selection, on map[string]*Resident) plan.Selection {
	var targets, excludes []string
	for _, addr := range s.Targets {
		if _, found := onHost(addr, on); len(found) > 0 {
			targets = append(targets, found...)
			continue
		}
		targets = append(targets, addr)
	}
	for _, addr := range s.Excludes {
		if names, found := onHost(addr, on); len(names) > 0 {
			excludes, s.ExcludedHosts = append(excludes, found...), append(s.ExcludedHosts, names...)
			continue
		}
		excludes = append(excludes, addr)
	}
	s.Targets, s.Excludes = targets, excludes
	return s
}

// onHost returns the hosts that an address names, and the resources on them.
func onHost(addr string, on map[string]*Resident) (names, found []string) {
	text, isHost := config.ParseHost(addr)
	for _, name := range sorted(on) {
		if isHost && (isOf(name, text) || isOf(on[name].Was, text)) {
			names, found = append(names, name), append(found, on[name].Addresses...)
		}
	}
	return names, found
}

// isOf reports whether a name means a host. The name of a block with instances, without a
// key, means all of them.
func isOf(host, name string) bool { return host == name || strings.HasPrefix(host, name+"[") }

// Join adds the hosts in more, and the resources on them, to on.
func Join(on, more map[string]*Resident) {
	for _, name := range sorted(more) {
		if on[name] == nil {
			on[name] = more[name]
		}
		for _, addr := range more[name].Addresses {
			on[name].add(addr)
		}
	}
}

// Blind returns the blocks whose instances depend on facts of unreachable hosts.
func (f Reached) Blind(m *config.Manifest) (list []string) {
	for _, p := range m.Pending() {
		if slices.ContainsFunc(p.Facts, func(name string) bool { return f.Pins[name].Unreachable != "" }) {
			list = append(list, p.Address)
		}
	}
	return list
}

// Open returns those of the resources with an open action whose machine the plan neither
// creates nor replaces: on a machine that no longer exists no action can run.
func (f Reached) Open(open []string, prior state.Snapshot) []string {
	return slices.DeleteFunc(slices.Clone(open), func(addr string) bool {
		h := prior.Resources[addr].Settings.Host
		return h != nil && f.Pins[h.Name].Anew
	})
}

// Today returns the addresses that recorded resources have in the manifest.
func Today(m *config.Manifest, prior state.Snapshot, addresses []string) []string {
	s := subject.New(m, prior, plan.Selection{})
	if s.Move().HasErrors() { // the plan reports these errors
		return addresses
	}
	list, now := []string(nil), map[string]string{}
	for _, moved := range s.Moves {
		now[moved.From] = moved.To
	}
	for _, addr := range addresses {
		if addr = cmp.Or(now[addr], addr); !slices.Contains(list, addr) {
			list = append(list, addr)
		}
	}
	return list
}

// Placed returns a state in which each entry has the host that its machine is now, as a plan has it. An entry
// whose machine does not answer keeps the recorded one: no other machine is queried.
func Placed(m *config.Manifest, pins map[string]router.Pin, prior state.Snapshot) state.Snapshot {
	next := objects.HostsOf(m, pins).PlaceAll(prior)
	for addr, entry := range next.Resources {
		if h := entry.Settings.Host; h != nil && h.Machine == "" && len(pins) > 0 {
			h.Machine = prior.Resources[addr].Settings.Host.Machine // the host is a copy
		}
	}
	return next
}
