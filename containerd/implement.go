package containerd

import (
	"context"

	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// Resolve implements runner.Runner.
func (r *Runtime) Resolve(ctx context.Context, ref string) (runner.Image, error) {
	return r.Images.Resolve(ctx, ref)
}

// Obtain implements runner.Runner.
func (r *Runtime) Obtain(ctx context.Context, w runner.Wanted) (runner.Image, error) {
	return r.Images.Obtain(ctx, w)
}

// Has reports which paths an image has.
func (r *Runtime) Has(ctx context.Context, digest string, paths ...string) ([]bool, error) {
	return r.Images.Has(ctx, digest, paths...)
}

// Shipment makes all contents available that a machine of the architecture needs.
func (r *Runtime) Shipment(ctx context.Context, digest, arch string) (imagestore.Shipment, error) {
	return r.Images.Shipment(ctx, digest, arch)
}

// Named implements router.Images.
func (r *Runtime) Named(ctx context.Context, d string) (imagestore.Shipment, error) {
	return r.Images.Named(ctx, d)
}

// ReadContent implements imagestore.Contents.
func (r *Runtime) ReadContent(ctx context.Context, digest string, offset int64, n int) ([]byte, error) {
	return r.Images.ReadContent(ctx, digest, offset, n)
}

// Receive makes an image of the contents of another machine.
func (r *Runtime) Receive(ctx context.Context, s imagestore.Shipment, from imagestore.Contents) error {
	return r.Images.Receive(ctx, s, from)
}

// Labels implements runner.Inspector.
func (r *Runtime) Labels(ctx context.Context, digest string) (map[string]string, error) {
	return r.Images.Labels(ctx, digest)
}

// Adopt implements runner.Adopter.
func (r *Runtime) Adopt(ctx context.Context, id string, w runner.Watch) (runner.Outcome, error) {
	return r.actions.Adopt(ctx, id, w)
}

// Discard implements runner.Adopter.
func (r *Runtime) Discard(ctx context.Context, id string) error { return r.actions.Discard(ctx, id) }

// End kills all processes of an action that has a container of its own.
func (r *Runtime) End(ctx context.Context, id string) error { return r.actions.End(ctx, id) }

// Running reports whether an action still runs, or may run.
func (r *Runtime) Running(ctx context.Context, id string) (bool, error) {
	return r.actions.Running(ctx, id)
}
