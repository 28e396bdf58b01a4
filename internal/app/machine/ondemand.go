package machine

import (
	"context"
	"strings"
	"sync"
	"time"

	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// Bundled are the images that come with deployster.
type Bundled interface {
	// Image returns the image of a reserved name.
	Image(name string) (runner.Image, error)
	// Shipment describes the image with a digest for a host; the error is that no such image comes with deployster.
	Shipment(digest string) (imagestore.Shipment, error)
	// Has reports whether a content is one of these images.
	Has(digest string) bool
	// Answer returns what the image with a digest answers to init under a name; false = only the image itself knows.
	Answer(digest, reference string) ([]byte, bool)
	imagestore.Contents
}

// onDemand is a Runtime that is opened when something needs it: an image that runs on this machine, or one that did not
// come with deployster. Those that did are read from its files, so that what hosts do alone takes no containerd here.
type onDemand struct {
	bundled   Bundled
	artifacts string
	connect   func(context.Context) (Runtime, error)

	mu      sync.Mutex
	runtime Runtime // nil = not opened
	err     error   // why it could not be opened
	failed  time.Time
}

// failing is how long a Runtime that could not be opened is not tried again: many images may need it.
const failing = time.Minute

// open opens the runtime, unless it is open.
func (d *onDemand) open(ctx context.Context) (Runtime, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.runtime != nil {
		return d.runtime, nil
	}
	if d.err != nil && time.Since(d.failed) < failing {
		return nil, d.err
	}
	runtime, err := d.connect(ctx)
	if err != nil {
		if ctx.Err() == nil {
			d.err, d.failed = err, time.Now()
		}
		return nil, err
	}
	d.runtime = runtime
	return runtime, nil
}

func (d *onDemand) isOpen() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.runtime != nil
}

// with calls do with the opened runtime.
func with[T any](ctx context.Context, d *onDemand, do func(Runtime) (T, error)) (T, error) {
	r, err := d.open(ctx)
	if err != nil {
		var none T
		return none, err
	}
	return do(r)
}

// own returns the image of a reference if it comes with deployster.
func (d *onDemand) own(reference string) (image runner.Image, is bool, err error) {
	full, dgst, err := imagestore.FullName(reference)
	switch {
	case err != nil:
		return image, false, nil // the runtime reports it
	case imagestore.Reserved(full):
		image, err = d.bundled.Image(full)
		return image, true, err
	}
	_, err = d.bundled.Shipment(dgst)
	return runner.Image{Reference: full, Digest: dgst}, err == nil, nil
}

// Resolve implements runner.Runner.
func (d *onDemand) Resolve(ctx context.Context, reference string) (runner.Image, error) {
	if image, is, err := d.own(reference); is {
		return image, err
	}
	return with(ctx, d, func(r Runtime) (runner.Image, error) { return r.Resolve(ctx, reference) })
}

// Obtain implements images.Runtime.
func (d *onDemand) Obtain(ctx context.Context, w runner.Wanted) (runner.Image, error) {
	image, is, err := d.own(w.Reference)
	if is && err == nil && w.Digest != "" && w.Digest != image.Digest {
		is = false // another deployster's: it may be in the runtime
	}
	if is && w.Verify == nil {
		return image, err
	}
	return with(ctx, d, func(r Runtime) (runner.Image, error) { return r.Obtain(ctx, w) })
}

// Run implements runner.Runner.
func (d *onDemand) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	return with(ctx, d, func(r Runtime) (runner.Result, error) { return r.Run(ctx, s) })
}

// Launch implements runner.Launcher.
func (d *onDemand) Launch(ctx context.Context, s runner.Spec) (runner.Process, error) {
	return with(ctx, d, func(r Runtime) (runner.Process, error) { return r.Launch(ctx, s) })
}

// Adopt implements runner.Adopter.
func (d *onDemand) Adopt(ctx context.Context, id string, w runner.Watch) (runner.Outcome, error) {
	return with(ctx, d, func(r Runtime) (runner.Outcome, error) { return r.Adopt(ctx, id, w) })
}

// Discard implements runner.Adopter.
func (d *onDemand) Discard(ctx context.Context, id string) error {
	_, err := with(ctx, d, func(r Runtime) (any, error) { return nil, r.Discard(ctx, id) })
	return err
}

// Running reports whether an action still runs.
func (d *onDemand) Running(ctx context.Context, id string) (bool, error) {
	return with(ctx, d, func(r Runtime) (bool, error) { return r.Running(ctx, id) })
}

// Has implements runner.Inspector.
func (d *onDemand) Has(ctx context.Context, digest string, paths ...string) ([]bool, error) {
	return with(ctx, d, func(r Runtime) ([]bool, error) { return r.Has(ctx, digest, paths...) })
}

// Labels implements runner.Inspector.
func (d *onDemand) Labels(ctx context.Context, digest string) (map[string]string, error) {
	return with(ctx, d, func(r Runtime) (map[string]string, error) { return r.Labels(ctx, digest) })
}

// Shipment implements router.Images.
func (d *onDemand) Shipment(ctx context.Context, digest, arch string) (imagestore.Shipment, error) {
	if s, err := d.bundled.Shipment(digest); err == nil {
		return s, nil
	}
	return with(ctx, d, func(r Runtime) (imagestore.Shipment, error) { return r.Shipment(ctx, digest, arch) })
}

// Named implements router.Images.
func (d *onDemand) Named(ctx context.Context, digest string) (imagestore.Shipment, error) {
	return with(ctx, d, func(r Runtime) (imagestore.Shipment, error) { return r.Named(ctx, digest) })
}

// ReadContent implements imagestore.Contents.
func (d *onDemand) ReadContent(ctx context.Context, digest string, offset int64, n int) ([]byte, error) {
	if d.bundled.Has(digest) {
		return d.bundled.ReadContent(ctx, digest, offset, n)
	}
	return with(ctx, d, func(r Runtime) ([]byte, error) { return r.ReadContent(ctx, digest, offset, n) })
}

// Artifacts returns the directory of the files of artifacts.
func (d *onDemand) Artifacts() string { return d.artifacts }

// Withheld returns why containers must not get a path of this machine. Where the runtime cannot be opened, none gets it.
func (d *onDemand) Withheld(path string) string {
	why, err := with(context.Background(), d, func(r Runtime) (string, error) { return r.Withheld(path), nil })
	if err != nil {
		return strings.TrimSuffix(err.Error(), ".")
	}
	return why
}

// Close closes the runtime, if it was opened.
func (d *onDemand) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.runtime == nil {
		return nil
	}
	return d.runtime.Close()
}
