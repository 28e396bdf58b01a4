package subject

import (
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/protocol"
)

// UnknownActions returns an error for each action in the watch block of a resource that its type never plans, by the list in the
// type's answer to init.
func UnknownActions(m *config.Manifest, r *config.Resource, ty protocol.Type) (diags diag.Diagnostics) {
	for _, name := range r.Watch.Actions {
		if ty.Actions == nil || slices.Contains(ty.Actions, name) {
			continue
		}
		d := diag.Errorf("Unknown action", "watch.actions names %q, and the type %s has no such action: it has %s.%s", diag.Visible(name),
			diag.Visible(r.TypeRef), strings.Join(ty.Actions, ", "), words.DidYouMean(name, ty.Actions))
		d.Address = r.Address
		diags = append(diags, m.Diagnose(d, &r.Watch.At))
	}
	return diags
}
