package objects

import (
	"maps"
	"slices"

	"deployster/config"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/plan/reason"
	"deployster/protocol"
	"deployster/state"
)

// Hosts are the machines behind hosts: those that the manifest declares and the names of
// other hosts that answered, both by machine, and all answers by the names of hosts. A namespace of a
// cluster is one machine, and several hosts may declare it.
type Hosts struct {
	declared map[string][]runner.Host
	former   map[string]string
	pins     map[string]router.Pin
}

// HostsOf returns the hosts of a manifest and of the answers of hosts.
func HostsOf(m *config.Manifest, pins map[string]router.Pin) Hosts {
	found := Hosts{map[string][]runner.Host{}, map[string]string{}, pins}
	if len(pins) == 0 {
		return found
	}
	for _, h := range m.Hosts() {
		if h.Machine != "" {
			found.declared[h.Machine] = append(found.declared[h.Machine], h.Host)
		}
	}
	for name, pin := range pins {
		_, declared := found.declared[pin.Machine]
		if before := found.former[pin.Machine]; !declared && pin.Machine != "" && (before == "" || name < before) {
			found.former[pin.Machine] = name
		}
	}
	return found
}

// Place returns an entry with the present host of its machine, which may have another name
// now, as when the manifest has renamed the host.
func (h Hosts) Place(e state.Entry) state.Entry {
	if e.Settings.Host == nil {
		return e
	}
	on := *e.Settings.Host
	e.Settings.Host = &on
	answers := h.pins[on.Name].Machine
	if on.Machine == "" {
		on.Machine = answers // the entry has only the name of the host
	}
	switch today, declared := h.declared[on.Machine]; {
	case declared:
		on = today[max(0, slices.IndexFunc(today, func(h runner.Host) bool { return h.Name == on.Name }))]
	case on.Machine != "" && answers != on.Machine && h.former[on.Machine] != "":
		on.Name = h.former[on.Machine]
	case answers == "" && !h.pins[on.Name].Anew:
		on.Machine = "" // no host of that name answers, so it is compared by name
	}
	return e
}

// Facts returns the facts of a host, as far as they are known; nil = they are not.
func (h Hosts) Facts(of *runner.Host) *protocol.HostFacts {
	if of == nil {
		return nil
	}
	return h.pins[of.Name].Facts
}

// PlaceAll places all entries of a state.
func (h Hosts) PlaceAll(s state.Snapshot) state.Snapshot {
	if len(h.pins) > 0 {
		s.Resources = maps.Clone(s.Resources)
		for addr, entry := range s.Resources {
			s.Resources[addr] = h.Place(entry)
		}
	}
	return s
}

// OutOfReach returns why the machine of an entry cannot be reached: another machine answers in its
// place, or will; nil = it can be reached. The entry must come from Place.
func (h Hosts) OutOfReach(e state.Entry) *reason.Reason {
	on := e.Settings.Host
	if on == nil || on.Machine == "" || h.pins[on.Name].Machine == on.Machine {
		return nil
	}
	if h.pins[on.Name].Anew {
		return reason.New(reason.HostNotCreated, on.Machine, on.Name)
	}
	return reason.New(reason.HostAnother, on.Machine, on.Name, h.pins[on.Name].Machine)
}
