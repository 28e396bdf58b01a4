package plan

import (
	"encoding/json"
	"maps"
	"reflect"

	"deployster/config"
	"deployster/internal/base/jsondoc"
	"deployster/state"
)

// mayUseRecorded reports whether a plan with -refresh=false may take a resource to be as
// it was recorded: everything that its image would be asked with is what it was
// asked with when it was VALID, and nothing says that it is not so any more.
func (b *builder) mayUseRecorded(r *config.Resource, s *Step, before []string) bool {
	entry, known := b.prior.Resources[r.Address]
	if !b.options.Selection.NoRefresh || !known || entry.Dirty || entry.LastSeen != nil || s.MayChange {
		return false
	}
	if entry.Digest != s.Init.Digest || entry.ReadOnly != r.ReadOnly || !sameJSON(entry.Config, s.Config) || !maps.Equal(entry.Aliases, r.Aliases) {
		return false
	}
	if !sameValue(entry.Settings, s.Settings) || !sameValue(entry.Mounts, s.Mounts) {
		return false
	}
	for _, addr := range before {
		if dep, recorded := b.step(addr), b.prior.Resources[addr]; dep.Change != Valid || !sameJSON(dep.State, recorded.State) {
			return false
		}
	}
	return !s.seesDependencies() || b.sameConfigs(r.Aliases, map[string]bool{})
}

// seesDependencies reports whether its image is told of what it depends on.
func (s *Step) seesDependencies() bool { return s.Init.Dialect == 1 || s.Init.Dependencies }

// sameConfigs reports whether the dependencies behind aliases, and those behind
// theirs, have the configs with which they were recorded.
func (b *builder) sameConfigs(aliases map[string]string, seen map[string]bool) bool {
	for _, addr := range aliases {
		if seen[addr] {
			continue
		}
		seen[addr] = true
		dep := b.step(addr)
		if dep == nil || !sameJSON(dep.Config, b.prior.Resources[addr].Config) || !b.sameConfigs(dep.Aliases, seen) {
			return false
		}
	}
	return true
}

// useRecorded takes a resource to be as it was recorded.
func (b *builder) useRecorded(s *Step, entry state.Entry) {
	s.Change, s.State, s.Unrefreshed = Valid, entry.State, true
	s.hide(entry, b.manifest.Secrets())
}

// sameJSON compares two documents by what they say.
func sameJSON(a, b json.RawMessage) bool {
	if string(a) == string(b) {
		return true
	}
	left, err := jsondoc.Canonical(a)
	if err != nil {
		return false
	}
	right, err := jsondoc.Canonical(b)
	return err == nil && string(left) == string(right)
}

// sameValue compares two values by what is written of them.
func sameValue(a, b any) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	left, err := json.Marshal(a)
	if err != nil {
		return false
	}
	right, err := json.Marshal(b)
	return err == nil && string(left) == string(right)
}
