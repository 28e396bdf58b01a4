package artifacts

import (
	"maps"
	"slices"
	"strings"

	"deployster/config"
	"deployster/state"
)

// Concern reports whether a manifest or a state uses artifacts.
func Concern(m *config.Manifest, prior state.Snapshot) bool {
	return len(m.Artifacts())+len(prior.Pins) > 0 ||
		slices.ContainsFunc(slices.Collect(maps.Keys(prior.Resources)),
			func(a string) bool { return strings.HasPrefix(a, config.PublishPrefix) })
}

// Wanted lists the artifacts that the chosen resources depend on, and for a whole plan also
// those of outputs and check blocks. Artifacts whose files only a plug shows are found later,
// when a type requests the plug.
func Wanted(m *config.Manifest, chosen func(string) bool, whole bool) ([]string, error) {
	set := map[string]bool{}
	add := func(names []string) {
		for _, name := range names {
			set[name] = true
		}
	}
	shown := map[string]string{}
	for _, p := range m.Plugs() {
		shown[p.Name] = p.Artifact
	}
	for _, r := range m.Resources() {
		if !chosen(r.Address) {
			continue
		}
		add(r.Artifacts)
		if r.Publish != nil {
			for _, in := range r.Publish.Inputs {
				add([]string{in.Artifact, shown[in.Plug]})
			}
		}
	}
	for _, p := range m.Pending() {
		if chosen(p.Address) {
			add(p.Artifacts)
		}
	}
	delete(set, "")
	if !whole {
		return slices.Sorted(maps.Keys(set)), nil
	}
	reach, diags := m.OutputReach()
	for _, r := range reach {
		add(r.Artifacts)
	}
	checked, more := config.CheckedArtifacts(m)
	add(checked)
	return slices.Sorted(maps.Keys(set)), append(diags, more...).Err()
}
