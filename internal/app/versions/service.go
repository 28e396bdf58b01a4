package versions

import (
	"context"
	"maps"
	"slices"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/artifact"
	"deployster/plan/artifacts"
	"deployster/state"
)

// Options are what a Service works with.
type Options struct {
	Dir      string // where the lock file is
	Manifest *config.Manifest
	Prior    state.Snapshot
	Lock     *config.Lock // nil = there is no lock file
	Store    artifact.Store
	Passing  map[string]artifacts.Passing // of artifacts with passed

	// Open fetches the images of artifacts, and returns a client for them.
	Open func(ctx context.Context, wanted func(address string) bool) (artifact.Client, error)
}

// Service answers questions about the versions of artifacts.
type Service struct {
	o        Options
	declared map[string]config.Artifact
}

// New returns a Service.
func New(o Options) *Service {
	d := &Service{o: o, declared: map[string]config.Artifact{}}
	for _, a := range o.Manifest.Artifacts() {
		d.declared[a.Name] = a
	}
	return d
}

// Names returns the declared artifacts.
func (d *Service) Names() []string { return slices.Sorted(maps.Keys(d.declared)) }

// find returns a declared artifact.
func (d *Service) find(name string) (config.Artifact, error) {
	a, ok := d.declared[name]
	if ok {
		return a, nil
	}
	if len(d.declared) == 0 {
		return a, diag.Errorf("No such artifact", "The manifests here declare no artifacts.")
	}
	return a, diag.Errorf("No such artifact", "There is no artifact %q.%s The manifests declare: %s.", diag.Visible(name),
		words.DidYouMean(name, d.Names()), words.All(d.Names()))
}

// open fetches the images of artifacts, and returns a client for them.
func (d *Service) open(ctx context.Context, names ...string) (artifact.Client, error) {
	return d.o.Open(ctx, func(address string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return address == "artifact."+name })
	})
}

// locked returns the pin of an artifact in the lock file.
func (d *Service) locked(name string) (config.Pin, bool) {
	if d.o.Lock == nil {
		return config.Pin{}, false
	}
	p, ok := d.o.Lock.Artifacts[name]
	return p, ok
}

// held returns the pin of an artifact, and where it is; "" = it is not pinned.
func (d *Service) held(a config.Artifact) (config.Pin, string) {
	if a.Version != nil {
		return config.Pin{Space: a.Space, Version: a.Version}, artifacts.InManifest
	}
	if p, ok := d.locked(a.Name); ok {
		return p, artifacts.InLock
	}
	return config.Pin{}, ""
}

// Pinned returns where an artifact is pinned; "" = it is not.
func (d *Service) Pinned(name string) (string, error) {
	a, err := d.find(name)
	if err != nil {
		return "", err
	}
	_, where := d.held(a)
	return where, nil
}

// used returns the recorded version of an artifact; false = none, or one of another source or space than the block's.
func (d *Service) used(a config.Artifact) (state.Artifact, bool) {
	prior, ok := d.o.Prior.Artifacts[a.Name]
	if !ok || !artifacts.SameLine(a, prior) || a.Space != "" && a.Space != prior.Recipe.Space {
		return state.Artifact{}, false
	}
	return prior, true
}

// current returns the version that a plan starts from: the pinned one, else the recorded
// one; a nil Version = there is neither.
func (d *Service) current(a config.Artifact) (v artifact.Versioned, where string) {
	if p, where := d.held(a); where != "" {
		return artifact.Versioned{Space: p.Space, Version: p.Version}, where
	}
	if prior, ok := d.used(a); ok {
		return artifact.Versioned{Space: prior.Recipe.Space, Version: prior.Recipe.Version, Metadata: prior.Metadata}, ""
	}
	return artifact.Versioned{}, ""
}
