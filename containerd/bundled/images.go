package bundled

import (
	"archive/tar"
	"context"
	"io"
	"os"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/errdefs"
	digest "github.com/opencontainers/go-digest"

	"deployster/containerd/failure"
)

// Images are the images that come with deployster, in a store of images.
type Images struct {
	Files
	client *client.Client
}

// New returns the images that come with this program, in the store of a client.
func New(c *client.Client) Images { return Images{Files: Find(), client: c} }

// Ensure returns the record of a reserved name, which is made if it is missing or is that of
// another deployster.
func (b Images) Ensure(ctx context.Context, name string) (images.Image, error) {
	dir, target, err := b.find(name)
	if err != nil {
		return images.Image{}, err
	}
	service := b.client.ImageService()
	record, err := service.Get(ctx, name)
	if err == nil && record.Target.Digest == target.Digest || err != nil && !errdefs.IsNotFound(err) {
		return record, err
	}
	if err := b.load(ctx, name, dir); err != nil {
		return images.Image{}, failure.Of("Loading the image "+name, err)
	}
	return service.Get(ctx, name)
}

// EnsureDigest makes the record of the image with a digest, if that comes with deployster.
func (b Images) EnsureDigest(ctx context.Context, d digest.Digest) error {
	name, _, err := b.named(d)
	if err == nil {
		_, err = b.Ensure(ctx, name)
	}
	return err
}

// load imports a layout under a reserved name.
func (b Images) load(ctx context.Context, name, dir string) error {
	from, to := io.Pipe()
	go func() {
		w := tar.NewWriter(to)
		err := w.AddFS(os.DirFS(dir))
		if err == nil {
			err = w.Close()
		}
		to.CloseWithError(err)
	}()
	defer from.Close()
	_, err := b.client.Import(ctx, from,
		client.WithAllPlatforms(true), // hosts may have another architecture
		client.WithImageLabels(map[string]string{}),
		client.WithImageRefTranslator(func(string) string { return name }),
		client.WithDigestRef(func(d digest.Digest) string { return d.String() }))
	return err
}
