package observe

import (
	"maps"
	"slices"

	"deployster/config"
	"deployster/state"
)

// OpenRecorded lists the unexpanded blocks whose instances follow from the recorded states.
func OpenRecorded(m *config.Manifest, prior state.Snapshot) []config.Pending {
	return slices.DeleteFunc(slices.Clone(m.Pending()), func(p config.Pending) bool {
		return p.Waits || slices.ContainsFunc(p.Needs, func(addr string) bool { _, known := prior.Completed(addr); return !known })
	})
}

// ExpandRecorded returns the manifest with the instances that follow from the recorded
// states, and the blocks that it expanded for that. Other blocks are not expanded.
func ExpandRecorded(m *config.Manifest, prior state.Snapshot) (*config.Manifest, []config.Pending) {
	var blocks []config.Pending
	recorded := Recorded(prior)
	for {
		open := slices.DeleteFunc(OpenRecorded(m, prior), func(p config.Pending) bool { return len(p.Artifacts)+len(p.Facts) > 0 })
		if len(open) == 0 {
			return m, blocks
		}
		scope := config.States{}
		for _, p := range open {
			maps.Copy(scope, States(p.Needs, recorded, prior))
		}
		next, unknown, diags := m.Expand(open, scope)
		if diags.HasErrors() || len(unknown) > 0 {
			return m, blocks
		}
		m, blocks = next, slices.Concat(blocks, open)
	}
}
