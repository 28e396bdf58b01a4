package runnertest

import (
	"context"
	"errors"

	"deployster/internal/runner"
	"deployster/internal/runner/imagestore"
)

// Runtime is a Fake whose images are all here, and whose actions all end with the
// client that started them: a whole runtime for tests of the engine.
type Runtime struct {
	*Fake
	Dir string // where the files of artifacts are kept
}

// Artifacts is the directory in which the files of artifacts are kept.
func (r Runtime) Artifacts() string { return r.Dir }

// Withheld withholds nothing.
func (r Runtime) Withheld(string) string { return "" }

// Obtain finds an image.
func (r Runtime) Obtain(ctx context.Context, w runner.Wanted) (runner.Image, error) {
	return r.Resolve(ctx, w.Reference)
}

// Adopt knows of no action.
func (Runtime) Adopt(context.Context, string, runner.Watch) (runner.Outcome, error) {
	return runner.Outcome{Fate: runner.Unknown, Why: "its runtime is gone"}, nil
}

// Discard has nothing to remove.
func (Runtime) Discard(context.Context, string) error { return nil }

// Running reports that no action outlives its client.
func (Runtime) Running(context.Context, string) (bool, error) { return false, nil }

// Close has nothing to give up.
func (Runtime) Close() error { return nil }

// Shipment describes an image that is nothing but its digest.
func (Runtime) Shipment(_ context.Context, digest, _ string) (imagestore.Shipment, error) {
	return imagestore.Shipment{Name: digest, Digest: digest}, nil
}

// ReadContent fails: the images of a Fake have no contents.
func (Runtime) ReadContent(_ context.Context, digest string, _ int64, _ int) ([]byte, error) {
	return nil, errors.New("there is no content " + digest)
}
