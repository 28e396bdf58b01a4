package unpacked

import (
	"context"
	"path/filepath"

	digest "github.com/opencontainers/go-digest"

	"deployster/containerd/daemon"
	"deployster/containerd/images"
	"deployster/containerd/registry"
)

// Images are the images of a containerd, unpacked for containers. Each is unpacked when it is stored.
type Images struct {
	*images.Store

	conn  *daemon.Conn
	cache imageCache
}

// New returns the images of a connection.
func New(c *daemon.Conn, o registry.Options) *Images {
	x := &Images{conn: c, cache: imageCache{snapshotter: c.Snapshotter}}
	if c.Embedded {
		x.cache.dir = filepath.Join(c.Config.DataDir, "images")
	}
	x.Store = images.NewStore(c.Conn, x, o)
	return x
}

// Prepare implements images.Preparer.
func (x *Images) Prepare(ctx context.Context, digest string) error {
	_, err := x.prepare(ctx, digest)
	return err
}

// Forget drops what is cached of an image. It is called when the image, or its files, no
// longer exist.
func (x *Images) Forget(d digest.Digest) { x.cache.forget(d) }
