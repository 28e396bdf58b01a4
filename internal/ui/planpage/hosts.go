package planpage

import (
	"maps"
	"slices"
	"strings"

	"deployster/internal/base/words"
	"deployster/internal/runtime/remote/router"
)

// hostRow is a host that a plan refers to.
type hostRow struct {
	Class, Name, Address text
	About                text // its changes, and a description of the machine; or why it cannot be reached
}

// hosts returns the hosts of a plan, in the order of their names.
func (v *view) hosts() (list []hostRow) {
	changes, all := map[string]int{}, map[string]int{}
	for _, s := range v.plan.Resources {
		if h := s.Settings.Host; h != nil {
			if all[h.Name]++; !s.Quiet() {
				changes[h.Name]++
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.plan.Hosts)) {
		pin := v.plan.Hosts[name]
		r := hostRow{Class: "valid", Name: v.text(name), Address: v.clipped(pin.Address)}
		switch {
		case pin.Unreachable != "":
			r.Class, r.About = "warn", v.clipped("It is unreachable: "+pin.Unreachable+
				". Its resources and their dependants are skipped.")
		default:
			if changes[name] > 0 {
				r.Class = "update"
			}
			about := words.Count(changes[name], "change") + " of " + words.Count(all[name], "resource")
			r.About = v.clipped(strings.Join(append([]string{about}, machineOf(pin)...), ", "))
		}
		list = append(list, r)
	}
	return list
}

// machineOf describes the machine of a host, if its facts are known.
func machineOf(pin router.Pin) []string {
	f := pin.Facts
	if f == nil {
		return nil // the same plan creates it
	}
	return []string{f.Hostname, strings.TrimSpace(f.OS + " " + f.OSVersion), f.Arch, words.Count(f.CPUs, "processor"),
		words.Bytes(f.Memory)}
}
