package versions

import (
	"context"
	"slices"
	"sync"

	"deployster/config"
	"deployster/internal/runtime/artifact"
	"deployster/plan/artifacts"
	"deployster/state"
)

// Checks report which versions of artifacts there are in addition to those in use.
type Checks struct {
	Format    int       `json:"format"`
	Artifacts []Checked `json:"artifacts"`
}

// Checked is what the image of an artifact reports about newer versions.
type Checked struct {
	Name     string            `json:"name"`
	Type     string            `json:"type"` // The image, as the manifest names it.
	Space    string            `json:"space,omitempty"`
	InUse    artifact.Version  `json:"in_use,omitempty"`    // The pinned version, or else the recorded one; missing: there is none.
	Pinned   string            `json:"pinned,omitempty"`    // Where it is pinned: "manifest" or "lock file".
	Newest   artifact.Version  `json:"newest"`              // That may be used; null: none has passed.
	Metadata artifact.Metadata `json:"metadata,omitempty"`  // Of the newest.
	Newer    int               `json:"newer"`               // How many came after the one in use.
	Unlisted bool              `json:"unlisted,omitempty"`  // The one in use is no longer listed.
	Waits    artifact.Version  `json:"waits,omitempty"`     // A newer version that has not passed what its block names.
	WaitsFor []string          `json:"waits_for,omitempty"` // The addresses that it has not passed.
	Between  []Version         `json:"between,omitempty"`   // Versions after the one in use, oldest first, at most the last 100.
}

// Version is one that an image lists.
type Version struct {
	Space    string            `json:"space,omitempty"`
	Version  artifact.Version  `json:"version"`
	Metadata artifact.Metadata `json:"metadata,omitempty"`
}

// Moves reports whether the newest version is not the one in use.
func (c Checked) Moves() bool { return !c.Newest.Is(c.InUse) }

// Check queries images for newer versions. No names means all artifacts but those that are
// only the target of publishes. It writes nothing.
func (d *Service) Check(ctx context.Context, names []string, parallelism int) (Checks, error) {
	out := Checks{Format: Format, Artifacts: []Checked{}}
	if len(names) == 0 {
		names = d.sources()
	}
	for _, name := range names {
		if _, err := d.find(name); err != nil {
			return out, err
		}
	}
	found, listed, err := d.newest(ctx, names, parallelism)
	if err != nil {
		return out, err
	}
	pins, waiting := found.Pins(), found.Waiting()
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		p := pins[name]
		_, where := d.held(d.declared[name])
		c := Checked{Name: name, Type: p.Type, Space: p.Recipe.Space, InUse: p.Was, Pinned: where, Newest: p.Recipe.Version,
			Metadata: p.Metadata, Newer: p.Newer, Unlisted: p.Unlisted, Waits: p.Waits, WaitsFor: p.WaitsFor}
		if w := waiting[name]; w != nil {
			c.Type, c.Space, c.Waits, c.WaitsFor = d.declared[name].TypeRef, d.declared[name].Space, w.Newest, w.By
		}
		if at := slices.IndexFunc(listed[name].Newest, func(v artifact.Versioned) bool { return v.Version.Is(p.Was) }); at >= 0 ||
			p.Newer > 0 {
			for _, v := range listed[name].Newest[at+1:] {
				c.Between = append(c.Between, Version(v))
			}
		}
		out.Artifacts = append(out.Artifacts, c)
	}
	return out, nil
}

// sources returns the artifacts that are more than the target of a publish.
func (d *Service) sources() []string {
	used, targets := map[string]bool{}, map[string]bool{}
	for _, p := range d.o.Manifest.Plugs() {
		used[p.Artifact] = true
	}
	for _, r := range d.o.Manifest.Resources() {
		for _, name := range r.Artifacts {
			used[name] = true
		}
		if r.Publish == nil {
			continue
		}
		targets[r.Publish.Artifact] = true
		for _, in := range r.Publish.Inputs {
			used[in.Artifact] = true
		}
	}
	return slices.DeleteFunc(d.Names(), func(name string) bool { return targets[name] && !used[name] })
}

// newest finds the newest version of each artifact, whatever pins it, starting from the
// one in use. It also returns what the images listed.
func (d *Service) newest(ctx context.Context, names []string, parallelism int) (*artifacts.Resolver,
	map[string]artifact.Checked, error) {
	client, err := d.open(ctx, names...)
	if err != nil {
		return nil, nil, err
	}
	var mu sync.Mutex
	listed := map[string]artifact.Checked{}
	o := artifacts.Options{Client: client, Store: d.o.Store, Secrets: d.o.Manifest.Secrets(), Recorded: map[string]state.Artifact{},
		Newest: true, Passing: d.o.Passing, Listed: func(name string, c artifact.Checked) {
			mu.Lock()
			defer mu.Unlock()
			listed[name] = c
		}}
	for _, name := range names {
		a := d.declared[name]
		if p, where := d.held(a); where != "" {
			o.Recorded[name] = asIfRecorded(a, p)
			if a.Space == "" {
				a.Space = p.Space
			}
		} else if prior, ok := d.used(a); ok {
			o.Recorded[name] = prior
		}
		a.Version, a.Metadata = nil, false
		o.Declared = append(o.Declared, a)
	}
	r := artifacts.New(o)
	if err := r.All(ctx, names, parallelism); err != nil {
		return nil, nil, err
	}
	return r, listed, nil
}

// asIfRecorded returns what a state would have if the pinned version were in use.
func asIfRecorded(a config.Artifact, p config.Pin) state.Artifact {
	recorded := state.Artifact{Pin: state.Pin{Name: a.Name, Type: a.TypeRef, Sensitive: state.PinSensitive{Source: a.Source.Sensitive},
		Recipe: artifact.Recipe{Source: a.Source.Value, Space: p.Space, Version: p.Version}}}
	recorded.Heads = map[string]artifact.Version{p.Space: p.Version}
	return recorded
}
