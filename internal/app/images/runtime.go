package images

import (
	"context"
	"io"

	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// Runtime has images, and can obtain others.
type Runtime interface {
	// Resolve finds an image that is here.
	Resolve(ctx context.Context, reference string) (runner.Image, error)
	// Obtain finds an image or pulls it, on the given terms.
	Obtain(ctx context.Context, w runner.Wanted) (runner.Image, error)
}

// Store is a Runtime whose images people manage.
type Store interface {
	Runtime
	Images(ctx context.Context) ([]imagestore.Image, error)
	Pull(ctx context.Context, reference string) (imagestore.Image, error)
	Import(ctx context.Context, from io.Reader, elsewhere func(name string, why error)) ([]imagestore.Image, error)
	// Tag gives an image other names, Save writes one as a tar, Push sends one to the registry of a name.
	Tag(ctx context.Context, source string, targets []string) ([]imagestore.Image, error)
	Save(ctx context.Context, reference string, to io.Writer) error
	Push(ctx context.Context, reference, as string) (imagestore.Image, error)
	Pack(ctx context.Context, o imagestore.PackOptions) (imagestore.Image, error)
	Remove(ctx context.Context, references []string) ([]imagestore.Image, error)
	// Unused lists the images without a name that nothing keeps; with all also those with a name.
	Unused(ctx context.Context, keep map[string]bool, all bool) ([]imagestore.Image, error)
}
