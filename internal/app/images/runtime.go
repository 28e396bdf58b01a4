package images

import (
	"context"
	"io"

	"deployster/containerd"
	"deployster/internal/runner"
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
	Images(ctx context.Context) ([]containerd.ImageInfo, error)
	Pull(ctx context.Context, reference string) (containerd.ImageInfo, error)
	Import(ctx context.Context, from io.Reader) ([]containerd.ImageInfo, error)
	Pack(ctx context.Context, o containerd.PackOptions) (containerd.ImageInfo, error)
	Remove(ctx context.Context, references []string) ([]containerd.ImageInfo, error)
	// Unused lists the images that nothing keeps; all also those that have a name.
	Unused(ctx context.Context, keep map[string]bool, all bool) ([]containerd.ImageInfo, error)
}
