package planpage

import (
	"maps"
	"slices"

	"deployster/internal/ui/render"
)

// artifactRow is a version that a plan uses.
type artifactRow struct {
	Class, Name, Type text
	Was, Now          text // Was: "" = the version stays; what was recorded before, if anything was
	New               bool // nothing was recorded
	About             text
}

// artifacts returns the versions of a plan's artifacts, in the order of their names.
func (v *view) artifacts() (list []artifactRow) {
	for _, name := range slices.Sorted(maps.Keys(v.plan.Artifacts)) {
		p := v.plan.Artifacts[name]
		r := artifactRow{Class: "valid", Name: v.text(name), Type: v.clipped(p.Type), Now: v.clipped(render.ShortVersion(p.Recipe.Version)),
			New: p.Was == nil, About: v.clipped(render.AboutArtifact(p))}
		if p.Moves() {
			r.Class = "update"
			if !r.New {
				r.Was = v.clipped(render.ShortVersion(p.Was))
			}
		}
		list = append(list, r)
	}
	return list
}
