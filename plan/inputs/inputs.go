package inputs

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner"
	"deployster/state"
)

// Kind is a kind of input.
type Kind string

// The kinds of inputs. Pending, Notified and Unfinished are what happened to a resource.
const (
	Config     Kind = "config"
	Image      Kind = "image"
	Address    Kind = "address"    // of a type that names objects by their addresses
	Host       Kind = "host"       // the machine
	Env        Kind = "env"        // Names are variables
	Setting    Kind = "setting"    // Names are keys of the settings, such as network and user
	Plug       Kind = "plug"       // Names are paths in the container
	Artifact   Kind = "artifact"   // another version; Names are paths in the container
	Facts      Kind = "host_facts" // Names are facts of the host
	Dependency Kind = "dependency" // Names are addresses: another resource, config or state
	Pending    Kind = "refresh_pending"
	Notified   Kind = "refresh"
	Unfinished Kind = "unfinished"
	Secret     Kind = "secret" // Names are secret blocks whose values have changed
)

// Change is an input that has changed since a resource was last VALID. The Names of a
// Pending or Notified are resources that it subscribes to: an earlier run acted on them and
// the resource is not notified of it yet; or this plan acts on them, or a watch has repaired
// them. Unfinished reports that an action of an apply on the resource did not end well.
type Change struct {
	// What is config, image, address, host, host_facts, env, setting, plug, artifact, dependency, secret, refresh_pending,
	// refresh or unfinished.
	What  Kind     `json:"what"`
	Names []string `json:"names,omitempty"`
}

// Compare returns the inputs that differ from those of an entry. now has the config, image,
// aliases, settings, mounts and Given of now. A config that is nil is not compared, nor what
// is given of dependencies and the host if it is nil in one of both.
func Compare(now, was state.Entry) (list []Change) {
	add := func(what Kind, names ...string) {
		if len(names) > 0 {
			slices.Sort(names)
			list = append(list, Change{What: what, Names: slices.Compact(names)})
		}
	}
	if now.Config != nil && !jsondoc.Same(now.Config, was.Config) {
		list = append(list, Change{What: Config})
	}
	if now.Digest != was.Digest {
		list = append(list, Change{What: Image})
	}
	if !now.Settings.Host.Same(was.Settings.Host) {
		add(Host, runner.NameOf(now.Settings.Host))
	}
	add(Env, differ(now.Settings.Env, was.Settings.Env, equal)...)
	add(Setting, differ(settings(now.Settings), settings(was.Settings), func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })...)
	plugs, versions := mounts(now.Mounts, was.Mounts)
	add(Plug, plugs...)
	add(Artifact, versions...)
	facts, addresses := given(now, was)
	add(Facts, facts...)
	add(Dependency, addresses...)
	if was.Dirty {
		list = append(list, Change{What: Unfinished})
	}
	return list
}

func equal(a, b string) bool { return a == b }

// differ lists the keys whose values differ in two maps.
func differ[V any](a, b map[string]V, same func(a, b V) bool) (keys []string) {
	for key, value := range a {
		if other, there := b[key]; !there || !same(value, other) {
			keys = append(keys, key)
		}
	}
	for key := range b {
		if _, there := a[key]; !there {
			keys = append(keys, key)
		}
	}
	return keys
}

// settings returns settings by their keys in JSON, without the host and env.
func settings(s runner.Settings) map[string]json.RawMessage {
	s.Host, s.Env = nil, nil
	var keys map[string]json.RawMessage
	if text, err := json.Marshal(s); err != nil || json.Unmarshal(text, &keys) != nil {
		return nil // settings are plain values: they always have a JSON form
	}
	return keys
}

// mounts lists the paths in the container of mounts that differ, artifacts apart.
func mounts(now, was []runner.Mount) (plugs, versions []string) {
	byTarget := func(list []runner.Mount) map[string]runner.Mount {
		targets := make(map[string]runner.Mount, len(list))
		for _, m := range list {
			targets[m.Target] = runner.Mount{Source: m.Source, Target: m.Target, Writable: m.Writable, Content: m.Content}
		}
		return targets
	}
	a, b := byTarget(now), byTarget(was)
	for _, target := range differ(a, b, func(a, b runner.Mount) bool { return a == b }) {
		_, _, is := artifact.ParseMount(a[target].Source)
		if _, _, had := artifact.ParseMount(b[target].Source); is && had {
			versions = append(versions, target)
		} else {
			plugs = append(plugs, target)
		}
	}
	return plugs, versions
}

// given lists the facts of the host that differ, and the addresses of the dependencies of
// which the type is given something else.
func given(now, was state.Entry) (facts, addresses []string) {
	differing := differ(now.Aliases, was.Aliases, equal)
	if now.Given != nil && was.Given != nil {
		differing = append(differing, differ(now.Given, was.Given, equal)...)
	}
	for _, key := range differing {
		if fact, is := strings.CutPrefix(key, factPrefix); is {
			facts = append(facts, fact)
		} else if addr, there := now.Aliases[key]; there {
			addresses = append(addresses, addr)
		} else if addr, there = was.Aliases[key]; there {
			addresses = append(addresses, addr)
		}
	}
	return facts, addresses
}

// Drift reports whether a resource that is STALE or gone has drifted: no input has changed.
// An action that did not end well is not an input.
func Drift(list []Change) bool { return len(Without(list, Unfinished)) == 0 }

// Restores reports whether actions for a resource only restore what was recorded. A
// notification counts where it belongs to a repair: the approval of that covers it.
func Restores(list []Change) bool { return len(Without(list, Unfinished, Notified)) == 0 }

// Without returns the changes that are not of some kinds.
func Without(list []Change, kinds ...Kind) []Change {
	return slices.DeleteFunc(slices.Clone(list), func(c Change) bool { return slices.Contains(kinds, c.What) })
}

// Only returns the changes that are of a kind.
func Only(list []Change, what Kind) []Change {
	return slices.DeleteFunc(slices.Clone(list), func(c Change) bool { return c.What != what })
}
