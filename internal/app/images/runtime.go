package images

import (
	"context"
	"io"

	"deployster/internal/runner"
	"deployster/internal/runner/imagestore"
)

// Runtime has images, and can get others.
type Runtime interface {
	// Resolve finds an image that is here.
	Resolve(ctx context.Context, reference string) (runner.Image, error)
	// Obtain finds an image or pulls it, on the terms of who wants it.
	Obtain(ctx context.Context, w runner.Wanted) (runner.Image, error)
}

// Store is a Runtime whose images people look after.
type Store interface {
	Runtime
	Images(ctx context.Context) ([]imagestore.Image, error)
	Pull(ctx context.Context, reference string) (imagestore.Image, error)
	Import(ctx context.Context, from io.Reader, elsewhere func(name string, why error)) ([]imagestore.Image, error)
	// Tag gives an image other names, Save writes one as a tar, Push sends one to its registry.
	Tag(ctx context.Context, source string, targets []string) ([]imagestore.Image, error)
	Save(ctx context.Context, reference string, to io.Writer) error
	Push(ctx context.Context, reference string) (imagestore.Image, error)
	Pack(ctx context.Context, o imagestore.PackOptions) (imagestore.Image, error)
	Remove(ctx context.Context, references []string) ([]imagestore.Image, error)
	// Unused lists the images that nothing keeps; all also those that have a name.
	Unused(ctx context.Context, keep map[string]bool, all bool) ([]imagestore.Image, error)
}
