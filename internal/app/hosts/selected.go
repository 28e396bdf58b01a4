package hosts

import (
	"cmp"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/places"
	"deployster/plan"
	"deployster/plan/subject"
	"deployster/plan/things"
	"deployster/state"
)

// Recorded adds what is recorded to what is on each host, by the names on record.
func Recorded(on map[string]*Resident, prior state.Snapshot) map[string]*Resident {
	for name, r := range (Reached{}).Former(on, prior) {
		on[name] = r
	}
	return on
}

// Selected replaces hosts in a selection by what is on them. What becomes known of an
// excluded one later is excluded too. A host that there is not, or one with nothing on it
// as a target, is refused as an address that there is not.
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

// onHost gives the hosts that an address names, and what is on them.
func onHost(addr string, on map[string]*Resident) (names, found []string) {
	text, isHost := config.ParseHost(addr)
	for _, name := range sorted(on) {
		if isHost && (isOf(name, text) || isOf(on[name].Was, text)) {
			names, found = append(names, name), append(found, on[name].Addresses...)
		}
	}
	return names, found
}

// isOf reports whether a host is the one of a name. Without a key the name of a block with
// instances means all of these.
func isOf(host, name string) bool { return host == name || strings.HasPrefix(host, name+"[") }

// Join adds hosts, and what is on them, to others.
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

// Blind gives the blocks whose instances are made of what only hosts know that cannot be
// reached.
func (f Reached) Blind(m *config.Manifest) (list []string) {
	for _, p := range m.Pending() {
		if slices.ContainsFunc(p.Facts, func(name string) bool { return f.Pins[name].Unreachable != "" }) {
			list = append(list, p.Address)
		}
	}
	return list
}

// Open gives those resources, of some with an open action, whose machine is not made anew
// by the plan: on that one nothing can run any more.
func (f Reached) Open(open []string, prior state.Snapshot) []string {
	return slices.DeleteFunc(slices.Clone(open), func(addr string) bool {
		h := prior.Resources[addr].Settings.Host
		return h != nil && f.Pins[h.Name].Anew
	})
}

// Today gives recorded resources by the addresses that the manifest has for them.
func Today(m *config.Manifest, prior state.Snapshot, addresses []string) []string {
	s := subject.New(m, prior, plan.Selection{})
	if s.Move().HasErrors() { // the plan says so
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

// Placed gives a state on the machines that answered, as a plan has it. What is on none of
// them keeps the machine that is recorded: no other is asked for it.
func Placed(m *config.Manifest, pins map[string]places.Pin, prior state.Snapshot) state.Snapshot {
	next := things.HostsOf(m, pins).PlaceAll(prior)
	for addr, entry := range next.Resources {
		if h := entry.Settings.Host; h != nil && h.Machine == "" && len(pins) > 0 {
			h.Machine = prior.Resources[addr].Settings.Host.Machine // of a copy
		}
	}
	return next
}
