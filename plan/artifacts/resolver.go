package artifacts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
	"deployster/internal/runtime/artifact"
	"deployster/state"
)

// Resolver finds the versions of artifacts, each once. It is safe for concurrent use.
type Resolver struct {
	o        Options
	declared map[string]config.Artifact

	mu    sync.Mutex
	calls map[string]*call
}

// call is one artifact that is being resolved.
type call struct {
	done chan struct{}
	pin  Pin
	err  error
}

// New returns a Resolver.
func New(o Options) *Resolver {
	r := &Resolver{o: o, declared: map[string]config.Artifact{}, calls: map[string]*call{}}
	for _, a := range o.Declared {
		r.declared[a.Name] = a
	}
	for name, pin := range o.Known {
		if _, declared := r.declared[name]; declared {
			c := &call{done: make(chan struct{}), pin: pin}
			close(c.done)
			r.calls[name] = c
		}
	}
	return r
}

// All resolves artifacts, parallelism of them at a time. It reports all failures.
func (r *Resolver) All(ctx context.Context, names []string, parallelism int) error {
	failed := make([]error, len(names))
	var group errgroup.Group
	group.SetLimit(max(1, parallelism))
	for i, name := range names {
		group.Go(func() error {
			_, failed[i] = r.Resolve(ctx, name)
			return nil
		})
	}
	_ = group.Wait() // each has its own error
	var diags diag.Diagnostics
	for _, err := range failed {
		if err != nil && !diag.Is[*WaitsError](err) { // see Waiting
			diags = append(diags, diag.From("Cannot find the version of an artifact", err)...)
		}
	}
	return diags.Err()
}

// Pins returns the pins that were resolved, by name; a nil Resolver has none.
func (r *Resolver) Pins() map[string]Pin {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]Pin{}
	for name, c := range r.calls {
		select {
		case <-c.done:
			if c.err == nil {
				out[name] = c.pin
			}
		default:
		}
	}
	return out
}

// Waiting returns what artifacts without a version wait for, by name; a nil Resolver has none.
func (r *Resolver) Waiting() map[string]*WaitsError {
	out := map[string]*WaitsError{}
	if r == nil {
		return out
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, c := range r.calls {
		select {
		case <-c.done:
			if waits, is := errors.AsType[*WaitsError](c.err); is {
				out[name] = waits
			}
		default:
		}
	}
	return out
}

// Found returns the Pins, with what is known of files that were fetched since. Metadata that
// only a get returns was fetched before, where an expression reads it.
func (r *Resolver) Found() map[string]Pin {
	pins := r.Pins()
	for name, p := range pins {
		if p.Tree != "" || r.o.Store == nil {
			continue
		}
		if e, here := r.o.Store.Look(p.Key); here {
			p.fill(e)
			pins[name] = p
		}
	}
	return pins
}

// fill copies what the store knows of the fetched files.
func (p *Pin) fill(e artifact.Entry) {
	p.Tree, p.Files, p.Bytes = e.Tree, e.Files, e.Bytes
	if p.Info.Protocol == artifact.Concourse1 {
		p.Metadata = e.Metadata
	}
}

// Resolve returns the pin of an artifact. The first call finds the version; others wait for it.
func (r *Resolver) Resolve(ctx context.Context, name string) (Pin, error) {
	r.mu.Lock()
	c, begun := r.calls[name]
	if !begun {
		c = &call{done: make(chan struct{})}
		r.calls[name] = c
	}
	r.mu.Unlock()
	if begun {
		select {
		case <-c.done:
			return c.pin, c.err
		case <-ctx.Done():
			return Pin{}, context.Cause(ctx)
		}
	}
	defer close(c.done)
	a := r.declared[name]
	if c.pin, c.err = r.resolve(ctx, a); c.err != nil && !diag.Is[*WaitsError](c.err) {
		c.err = r.located(a, c.err)
	}
	return c.pin, c.err
}

// located adds to an error the address of an artifact, and where it is declared.
func (r *Resolver) located(a config.Artifact, err error) error {
	list := diag.From("Cannot find the version of an artifact", err)
	for _, d := range list {
		if d.Address == "" {
			d.Address = "artifact." + a.Name
		}
		if d.Range == nil {
			place := a.Range
			d.Range = &place
		}
	}
	return list
}

// Target returns how the image of an artifact is run.
func Target(a config.Artifact, digest string) artifact.Target {
	return artifact.Target{Address: "artifact." + a.Name, Reference: a.TypeRef, Digest: digest, Settings: a.Settings, Pull: a.Pull,
		Verify: a.Verify, CheckTimeout: a.Check, GetTimeout: a.Get}
}

func (r *Resolver) resolve(ctx context.Context, a config.Artifact) (Pin, error) {
	held, where, err := r.held(a)
	if err != nil {
		return Pin{}, err
	}
	info, err := r.o.Client.Info(ctx, Target(a, ""))
	if err != nil {
		return Pin{}, err
	}
	p := Pin{Info: info, Pinned: where, Check: state.Duration(a.Check), Get: state.Duration(a.Get)}
	p.Name, p.Type, p.Settings = a.Name, a.TypeRef, a.Settings
	p.Sensitive = state.PinSensitive{Source: a.Source.Sensitive, Params: a.Params.Sensitive,
		Env: secret.FindEnv(a.Settings.Env, secret.NewHider(r.o.Secrets))}
	prior, known := r.o.Recorded[a.Name]
	known = known && SameLine(a, prior)
	if space := cmp.Or(a.Space, held.Space); known && (space == "" || space == prior.Recipe.Space) {
		p.Was = prior.Recipe.Version
	}
	switch {
	case r.keeps(a.Name) && p.Was != nil && (held.Version == nil || p.Was.Is(held.Version)):
		err = r.useRecorded(&p, a, prior)
	default:
		err = r.check(ctx, &p, a, held, prior, known)
		if err == nil && r.o.Follow != nil && p.Unlisted { // what is listed in its place may be older
			p.Unlisted, p.Newer, p.Note = false, 0, "the recorded version is not listed any more: it is kept"
			err = r.useRecorded(&p, a, prior)
		}
	}
	if err != nil {
		return Pin{}, err
	}
	if _, gated := r.o.Passing[a.Name]; gated { // what is newer there has not passed
		p.Spaces = map[string]config.SpaceVersion{p.Recipe.Space: {Version: p.Recipe.Version, Metadata: p.Metadata.Map()}}
	}
	if p.Key, err = p.Recipe.Key(); err != nil {
		return Pin{}, err
	}
	if err := r.files(ctx, &p, a); err != nil {
		return Pin{}, err
	}
	if r.o.Checked != nil && !p.Unrefreshed {
		r.o.Checked(p)
	}
	return p, nil
}

// keeps reports whether an artifact keeps its recorded version, without a check.
func (r *Resolver) keeps(name string) bool {
	return r.o.UseRecorded || r.o.Follow != nil && !slices.Contains(r.o.Follow, name)
}

// held returns the version at which an artifact is pinned, and where it is pinned.
func (r *Resolver) held(a config.Artifact) (config.Pin, string, error) {
	locked, isLocked := r.o.Lock[a.Name]
	isLocked = isLocked && !r.o.Newest
	switch {
	case a.Version != nil && isLocked:
		return config.Pin{}, "", diag.Errorf("artifact."+a.Name+" is pinned twice",
			"Its block has a version, and the lock file %s has one too. Remove one: `deployster artifact unpin %s` removes that of the "+
				"lock file.", config.LockName, a.Name)
	case a.Version != nil:
		return config.Pin{Space: a.Space, Version: a.Version}, InManifest, nil
	case isLocked:
		if a.Space != "" && locked.Space != "" && a.Space != locked.Space {
			return config.Pin{}, "", diag.Errorf("artifact."+a.Name+" is pinned in another space", "The lock file has a version of the "+
				"space %q, and the block has %q. `deployster artifact pin %s` pins a version of that.", locked.Space, a.Space, a.Name)
		}
		if r.o.Rollback {
			return locked, InRollback, nil
		}
		return locked, InLock, nil
	}
	return config.Pin{}, "", nil
}

// SameLine reports whether a recorded version is of the line of versions that a block means:
// type and source are equal, except for secrets, which may have been rotated since.
func SameLine(a config.Artifact, prior state.Artifact) bool {
	if a.TypeRef != prior.Type {
		return false
	}
	now, err := jsondoc.Canonical(secret.Mask(a.Source.Value, a.Source.Sensitive))
	was, werr := jsondoc.Canonical(secret.Mask(prior.Recipe.Source, prior.Sensitive.Source))
	return err == nil && werr == nil && string(now) == string(was)
}

// useRecorded puts the recorded version into a pin.
func (r *Resolver) useRecorded(p *Pin, a config.Artifact, prior state.Artifact) error {
	p.Unrefreshed, p.Metadata = true, prior.Metadata
	p.Recipe = artifact.NewRecipe(p.Info, a.Settings, a.Source.Value, a.Params.Value, artifact.Versioned{Space: prior.Recipe.Space,
		Version: prior.Recipe.Version})
	p.Spaces = map[string]config.SpaceVersion{}
	for space, v := range prior.Heads {
		p.Spaces[space] = config.SpaceVersion{Version: v}
	}
	p.Spaces[prior.Recipe.Space] = config.SpaceVersion{Version: prior.Recipe.Version, Metadata: prior.Metadata.Map()}
	return nil
}

// files notes what is known of files that are fetched already, and fetches them where
// an expression needs metadata that only a get returns.
func (r *Resolver) files(ctx context.Context, p *Pin, a config.Artifact) error {
	if r.o.Store == nil {
		return nil
	}
	e, here := r.o.Store.Look(p.Key)
	if !here && a.Metadata && p.Info.Protocol == artifact.Concourse1 {
		held, err := r.o.Store.Fetch(ctx, p.Order(a))
		if err != nil {
			return err
		}
		e, here = held.Entry, true
	}
	if !here {
		return nil
	}
	p.fill(e)
	if p.Info.Protocol == artifact.Concourse1 {
		if s, ok := p.Spaces[p.Recipe.Space]; ok && maps.Equal(s.Version, p.Recipe.Version) {
			s.Metadata = e.Metadata.Map()
			p.Spaces[p.Recipe.Space] = s
		}
	}
	return nil
}

// Order returns what fetches the files of a pin, with its image run as the manifest declares now.
func (p Pin) Order(a config.Artifact) artifact.Order {
	return artifact.Order{Name: p.Name, Target: Target(a, p.Recipe.Digest), Recipe: p.Recipe}
}

// OrderOf returns what fetches the files of a recorded pin, whose block may be gone.
func OrderOf(p state.Pin) artifact.Order {
	return artifact.Order{Name: p.Name, Recipe: p.Recipe,
		Target: artifact.Target{Address: "artifact." + p.Name, Reference: p.Type, Digest: p.Recipe.Digest, Settings: p.Settings}}
}

// Renewed returns a recorded pin with the present secrets, where the artifact of that name
// differs in secrets only.
func Renewed(p state.Pin, declared []config.Artifact) state.Pin {
	i := slices.IndexFunc(declared, func(a config.Artifact) bool { return a.Name == p.Name })
	if i < 0 || !p.Sensitive.Any() || !SameLine(declared[i], state.Artifact{Pin: p}) {
		return p
	}
	a := declared[i]
	p.Recipe.Source, p.Sensitive.Source = slices.Clone(json.RawMessage(a.Source.Value)), a.Source.Sensitive
	if len(p.Sensitive.Env) > 0 {
		p.Recipe.Env, p.Settings.Env = a.Settings.Env, a.Settings.Env
	}
	return p
}
