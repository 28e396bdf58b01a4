package typeclient

import (
	"context"
	"errors"
	"maps"
	"sync"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/protocol"
)

// resolver finds the digests of images, each once: of those on this machine, or of those
// that Options.Obtain makes available.
type resolver struct {
	runner    runner.Runner
	pins      map[string]string
	obtain    func(context.Context, Use) (digest string, err error)
	obtaining sync.Mutex

	mu      sync.Mutex
	names   map[string]string // reference -> full reference
	images  map[string]string // full reference -> digest
	allowed map[terms]string  // the digests of obtained images
}

// terms are the conditions under which an image is needed.
type terms struct {
	reference, step string // the step is "" except for init
	pull            runner.PullPolicy
	verify          *runner.Verify
	remote          bool
}

func newResolver(o Options) *resolver {
	return &resolver{runner: o.Runner, pins: o.Pins, obtain: o.Obtain,
		names: map[string]string{}, images: map[string]string{}, allowed: map[terms]string{}}
}

// resolve returns the digest of an image: the pinned digest, or the digest of the image
// on this machine with this name.
func (r *resolver) resolve(ctx context.Context, ref string) (digest string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	full := r.fullName(ref)
	if d, ok := r.images[full]; ok {
		return d, nil
	}
	d, pinned := r.pinned(ref)
	if !pinned {
		image, err := r.runner.Resolve(ctx, ref)
		if err != nil {
			return "", resolveError(ref, err)
		}
		d = image.Digest
	}
	r.images[full] = d
	return d, nil
}

// all returns the images that were resolved.
func (r *resolver) all() map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.images)
}

// pinned returns the digest that a plan has fixed for an image. The caller must hold the lock.
func (r *resolver) pinned(ref string) (digest string, ok bool) {
	if d, ok := r.pins[ref]; ok {
		return d, true
	}
	d, ok := r.pins[r.fullName(ref)]
	return d, ok
}

// obtainOnce calls Obtain once for an image and its conditions.
func (r *resolver) obtainOnce(ctx context.Context, t Target, step, ref string) (string, error) {
	key := terms{reference: ref, pull: t.Pull, verify: t.Verify, remote: t.Settings.Host.InCluster()}
	if step == StepInit {
		key.step = step
	}
	if have, done := r.obtained(key); done {
		return have, nil
	}
	r.obtaining.Lock() // a pull may take long, and one pull is shown at a time
	defer r.obtaining.Unlock()
	if have, done := r.obtained(key); done {
		return have, nil
	}
	r.mu.Lock()
	full := r.fullName(ref)
	fixed, known := r.images[full]
	if !known {
		fixed, _ = r.pinned(ref)
	}
	r.mu.Unlock()
	d, err := r.obtain(ctx, Use{Step: step, Reference: ref, Digest: fixed, Pull: t.Pull, Verify: t.Verify, Remote: key.remote})
	if err != nil {
		return "", &diag.Caused{Diagnostic: diag.From("Cannot obtain an image", err)[0], Cause: err}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.allowed[key], r.images[full] = d, d
	return d, nil
}

func (r *resolver) obtained(key terms) (digest string, done bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	digest, done = r.allowed[key]
	return digest, done
}

// fullName completes a reference as docker does. It returns an invalid reference
// unchanged, for the runner to refuse. The caller must hold the lock.
func (r *resolver) fullName(ref string) string {
	full, known := r.names[ref]
	if !known {
		var err error
		if full, _, err = imagestore.FullName(ref); err != nil {
			full = ref
		}
		r.names[ref] = full
	}
	return full
}

func resolveError(ref string, err error) error {
	if errors.Is(err, runner.ErrNoImage) {
		return diag.Because(err, "Image not found",
			"The image %q is not on this machine. Create it with `deployster image pack`, or import it with `deployster image import`; "+
				"`deployster image ls` lists the images of this machine.", diag.Visible(ref))
	}
	return diag.Because(err, "Cannot resolve an image", "%q: %s", diag.Visible(ref), diag.Visible(err.Error()))
}

// resolveFor is resolve for a step of a resource. Its errors name the step.
func (r *resolver) resolveFor(ctx context.Context, t Target, step, ref string) (string, error) {
	find := func() (string, error) { return r.resolve(ctx, ref) }
	if r.obtain != nil {
		find = func() (string, error) { return r.obtainOnce(ctx, t, step, ref) }
	}
	d, err := find()
	if ce, ok := errors.AsType[*diag.Caused](err); ok {
		return "", ce.At(t.Address, step)
	}
	return d, err
}

// checkSigned checks that an image whose digest was fixed before carries the required
// signature: the signature may not have been required then.
func (r *resolver) checkSigned(ctx context.Context, t Target) error {
	if t.Verify == nil || r.obtain == nil {
		return nil
	}
	_, err := r.obtain(ctx, Use{Step: StepInit, Reference: t.Reference, Digest: t.Digest, Pull: t.Pull, Verify: t.Verify,
		Remote: t.Settings.Host.InCluster()})
	if err == nil {
		return nil
	}
	caused := &diag.Caused{Diagnostic: diag.From("Cannot obtain an image", err)[0], Cause: err}
	return caused.At(t.Address, StepInit)
}

// digestFor returns the digest of the image that a command runs in.
func (r *resolver) digestFor(ctx context.Context, t Target, ty protocol.Type, step string, cmd protocol.Command) (string, error) {
	if cmd.Image == "" {
		return ty.Digest, nil
	}
	return r.resolveFor(ctx, t, step, cmd.Image)
}

// workerFor returns the worker that may carry out a command: it has the same image, and
// the command uses the image's own entrypoint.
func (r *resolver) workerFor(ctx context.Context, t Target, ty protocol.Type, step string, cmd protocol.Command,
	digest string) (*runner.Worker, error) {
	if ty.Worker == nil || cmd.Entrypoint != "" {
		return nil, nil
	}
	own, err := r.digestFor(ctx, t, ty, step, *ty.Worker)
	if err != nil || own != digest {
		return nil, err
	}
	return &runner.Worker{Digest: own, Entrypoint: ty.Worker.Entrypoint, Args: ty.Worker.Args}, nil
}

// resolveType fixes the digests of the other images that a type runs in, so that a plan
// pins them even if the state is queried only during the apply.
func (r *resolver) resolveType(ctx context.Context, t Target, ty protocol.Type) error {
	commands := []protocol.Command{ty.StateAction}
	for _, cmd := range []*protocol.Command{ty.Worker, ty.WatchAction, ty.DiscoverAction, ty.ValidateAction, ty.Notify} {
		if cmd != nil {
			commands = append(commands, *cmd)
		}
	}
	for _, cmd := range commands {
		if _, err := r.digestFor(ctx, t, ty, StepInit, cmd); err != nil {
			return err
		}
	}
	return nil
}

// resolveActions fixes the digests of the images that the actions will run in, so that
// a plan can pin them and a missing image is found before anything runs.
func (r *resolver) resolveActions(ctx context.Context, t Target, a protocol.Answer) error {
	actions := a.Actions
	if a.ShutdownFirst != nil {
		actions = append([]protocol.Action{*a.ShutdownFirst}, actions...)
	}
	for _, action := range actions {
		if action.Image == "" {
			continue
		}
		if _, err := r.resolveFor(ctx, t, action.Name, action.Image); err != nil {
			return err
		}
	}
	return nil
}
