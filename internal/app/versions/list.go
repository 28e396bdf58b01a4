package versions

import (
	"time"

	"deployster/internal/runtime/artifact"
	"deployster/plan/artifacts"
)

// Format is the version of the documents.
const Format = 1

// Listed reports which versions of artifacts are in use.
type Listed struct {
	Format    int    `json:"format"`
	Artifacts []Used `json:"artifacts"`
}

// Used is what is known of an artifact without running its image.
type Used struct {
	Name string `json:"name"`
	Type string `json:"type"` // The image, as the manifest names it.

	Space   string           `json:"space,omitempty"`
	Version artifact.Version `json:"version,omitempty"` // Of the last apply that ended well; missing: there was none.
	Since   *time.Time       `json:"since,omitempty"`   // When that apply was.

	Pinned string           `json:"pinned,omitempty"` // Where it is pinned: "manifest" or "lock file".
	Pin    artifact.Version `json:"pin,omitempty"`

	Cached bool  `json:"cached"` // The files of the version in use are here.
	Files  int64 `json:"files,omitempty"`
	Bytes  int64 `json:"bytes,omitempty"`
}

// List returns which versions are in use. It runs nothing.
func (d *Service) List() (Listed, error) {
	out := Listed{Format: Format, Artifacts: []Used{}}
	for _, name := range d.Names() {
		a := d.declared[name]
		u := Used{Name: name, Type: a.TypeRef, Space: a.Space}
		if p, where := d.held(a); where != "" {
			u.Pinned, u.Pin = where, p.Version
		}
		if prior, ok := d.used(a); ok {
			u.Space, u.Version, u.Since = prior.Recipe.Space, prior.Recipe.Version, &prior.At
			key, err := artifacts.Renewed(prior.Pin, d.o.Manifest.Artifacts()).Recipe.Key()
			if err != nil {
				return out, err
			}
			if e, here := d.o.Store.Look(key); here {
				u.Cached, u.Files, u.Bytes = true, e.Files, e.Bytes
			}
		}
		out.Artifacts = append(out.Artifacts, u)
	}
	return out, nil
}
