package runnertest

import (
	"context"
	"errors"

	"deployster/internal/runtime/runner"
)

// Runtime is a complete runtime for tests of the engine: a Fake that has all images,
// and whose actions end with the client that started them.
type Runtime struct {
	*Fake
	Dir string // the directory with the files of artifacts
}

// Artifacts returns the directory with the files of artifacts.
func (r Runtime) Artifacts() string { return r.Dir }

// Withheld withholds nothing.
func (r Runtime) Withheld(string) string { return "" }

// Obtain resolves an image.
func (r Runtime) Obtain(ctx context.Context, w runner.Wanted) (runner.Image, error) {
	return r.Resolve(ctx, w.Reference)
}

// Adopt returns an Unknown outcome for each action.
func (Runtime) Adopt(context.Context, string, runner.Watch) (runner.Outcome, error) {
	return runner.Outcome{Fate: runner.Unknown, Why: "its runtime is gone"}, nil
}

// Discard does nothing.
func (Runtime) Discard(context.Context, string) error { return nil }

// Running reports that no action outlives its client.
func (Runtime) Running(context.Context, string) (bool, error) { return false, nil }

// Close does nothing.
func (Runtime) Close() error { return nil }

// Shipment returns a shipment with nothing but the digest of an image.
func (Runtime) Shipment(_ context.Context, digest, _ string) (runner.Shipment, error) {
	return runner.Shipment{Name: digest, Digest: digest}, nil
}

// Named returns a shipment with nothing but the digest of an image.
func (Runtime) Named(_ context.Context, digest string) (runner.Shipment, error) {
	return runner.Shipment{Name: digest, Digest: digest}, nil
}

// ReadContent fails: the images of a Fake have no contents.
func (Runtime) ReadContent(_ context.Context, digest string, _ int64, _ int) ([]byte, error) {
	return nil, errors.New("there is no content " + digest)
}
