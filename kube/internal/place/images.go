package place

import (
	"context"
	"errors"
	"sync"

	"deployster/internal/runtime/runner"
)

// images are the images that a client has named. An agent learns by the shipment of an image what that runs.
type images struct {
	mu       sync.Mutex
	byDigest map[string]runner.Shipment
}

func (i *images) add(s runner.Shipment) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.byDigest == nil {
		i.byDigest = map[string]runner.Shipment{}
	}
	i.byDigest[s.Digest] = s
}

func (i *images) find(digest string) (runner.Shipment, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	s, known := i.byDigest[digest]
	return s, known
}

// Shipment implements router.Images.
func (i *images) Shipment(ctx context.Context, digest, _ string) (runner.Shipment, error) {
	return i.Named(ctx, digest)
}

// Named implements router.Images.
func (i *images) Named(_ context.Context, digest string) (runner.Shipment, error) {
	s, known := i.find(digest)
	if !known {
		return s, runner.ErrNoImage
	}
	return s, nil
}

// ReadContent implements runner.Contents.
func (*images) ReadContent(context.Context, string, int64, int) ([]byte, error) {
	return nil, errors.New("an agent has no images of its own")
}
