package inputs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"deployster/internal/base/jsondoc"
	"deployster/protocol"
	"deployster/state"
)

// factPrefix begins the keys of facts in an entry's Given. No alias has a dot.
const factPrefix = "host."

// Given returns what an entry records of what a type is given of its dependencies and its
// host: digests by alias, and facts. The machine is in the settings of the entry.
func Given(ty protocol.Type, deps map[string]protocol.Dependency, host *protocol.HostFacts) map[string]string {
	list := map[string]string{}
	for alias, d := range deps {
		list[alias] = digest(d)
	}
	if host != nil && ty.Protocol != 1 {
		list[factPrefix+"hostname"], list[factPrefix+"os"], list[factPrefix+"os_version"] = host.Hostname, host.OS, host.OSVersion
		list[factPrefix+"arch"], list[factPrefix+"kernel"] = host.Arch, host.Kernel
		list[factPrefix+"cpus"], list[factPrefix+"memory"] = fmt.Sprint(host.CPUs), fmt.Sprint(host.Memory)
	}
	if len(list) == 0 {
		return nil
	}
	return list
}

// OfDependencies returns what is given of the dependencies, without the facts of the host.
func OfDependencies(given map[string]string) map[string]string {
	given = maps.Clone(given)
	maps.DeleteFunc(given, func(key, _ string) bool { return strings.HasPrefix(key, factPrefix) })
	return given
}

// digest returns a digest of a dependency, without what is only planned for it.
func digest(d protocol.Dependency) string {
	text, err := json.Marshal(settled(d))
	if err != nil {
		return "" // its documents are JSON: they always have a text
	}
	if canonical, err := jsondoc.CanonicalOwn(text); err == nil {
		text = canonical
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// settled returns a dependency without its status and planned actions, and those behind it.
func settled(d protocol.Dependency) protocol.Dependency {
	d.Status, d.Actions, d.Properties = "", nil, nil
	d.Dependencies = maps.Clone(d.Dependencies)
	for alias, behind := range d.Dependencies {
		d.Dependencies[alias] = settled(behind)
	}
	return d
}

// Refresh returns what was or will be done to the resources that one subscribes to, and of
// which it is not notified yet. acts reports whether the plan acts on a resource.
func Refresh(owed []string, prior state.Snapshot, acts func(addr string) bool) (list []Change) {
	var now, before []string
	for _, addr := range owed {
		if acts(addr) || prior.Repaired(addr) {
			now = append(now, addr)
		} else {
			before = append(before, addr)
		}
	}
	if len(before) > 0 {
		list = append(list, Change{What: Pending, Names: before})
	}
	if len(now) > 0 {
		list = append(list, Change{What: Notified, Names: now})
	}
	return list
}

// Rotated returns the secrets whose values have changed.
func Rotated(names []string) []Change {
	if len(names) == 0 {
		return nil
	}
	return []Change{{What: Secret, Names: names}}
}
