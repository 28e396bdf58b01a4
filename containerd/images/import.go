package images

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sort"
	"time"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/containerd/v2/pkg/archive/compression"
	"github.com/containerd/platforms"
	"github.com/distribution/reference"
	digest "github.com/opencontainers/go-digest"

	"deployster/containerd/failure"
	"deployster/containerd/foreign"
	"deployster/internal/base/diag"
	"deployster/internal/runner/imagestore"
)

// Import brings images from a tar as `docker save` makes it, or of an OCI
// layout; either may be compressed. It gives the images by name. Those for other platforms
// are left out and given to elsewhere, unless there is nothing else.
func (store *Store) Import(ctx context.Context, from io.Reader, elsewhere func(name string, why error)) ([]imagestore.Image, error) {
	ctx = store.conn.Context(ctx)
	plain, err := openArchive(from)
	if err != nil {
		return nil, err
	}
	defer plain.Close()
	// Until it is known which are for this platform, nothing else keeps what the others
	// are made of.
	ctx, done, err := store.conn.Client.WithLease(ctx)
	if err != nil {
		return nil, failure.Of("The import", err)
	}
	defer func() { _ = done(context.WithoutCancel(ctx)) }() // else it expires
	before, err := store.conn.Client.ImageService().List(ctx)
	if err != nil {
		return nil, failure.Of("The import", err)
	}
	imported, err := store.conn.Client.Import(ctx, plain,
		client.WithImportPlatform(platform()),
		client.WithImageLabels(map[string]string{}), // a name that an image was pulled by is now that of a local one
		client.WithSkipMissing(),                    // an index may name other platforms, which are not in the archive
		client.WithImageRefTranslator(fullName),
		client.WithDigestRef(func(d digest.Digest) string { return d.String() }))
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if errors.Is(err, images.ErrEmptyWalk) {
			err = fmt.Errorf("there is no image for %s in it", platforms.DefaultString())
		}
		return nil, errArchive(err)
	}
	if len(imported) == 0 {
		return nil, errArchive(errors.New("there is no image in it"))
	}
	here, err := leaveOut(ctx, store, imported, before, elsewhere)
	if err != nil {
		return nil, err
	}
	infos, err := checkImported(ctx, store, here)
	if err != nil {
		undo, cancel := store.conn.Detached(ctx, time.Minute)
		defer cancel()
		return nil, failure.Join(err, restore(undo, store, imported, before))
	}
	return infos, nil
}

// leaveOut takes the images for other platforms away again, where there are some for this one.
func leaveOut(ctx context.Context, store *Store, imported, before []images.Image, elsewhere func(string, error)) ([]images.Image, error) {
	var here, other []images.Image
	var why []error
	for _, i := range imported {
		if err := foreign.Check(ctx, store.conn.Client.ContentStore(), i.Target); err != nil {
			other, why = append(other, i), append(why, err)
		} else {
			here = append(here, i)
		}
	}
	if len(here) == 0 {
		return imported, nil // which says of the first that it cannot be run
	}
	for n, i := range other {
		if !imagestore.IsDigest(i.Name) {
			elsewhere(familiar(i.Name), why[n])
		}
	}
	return here, restore(ctx, store, other, before)
}

// restore takes images away again, and gives names that they took from others
// back.
func restore(ctx context.Context, store *Store, imported, before []images.Image) error {
	had := map[string]images.Image{}
	for _, i := range before {
		had[i.Name] = i
	}
	var errs []error
	for _, i := range imported {
		store.cache.forget(i.Target.Digest)
		var err error
		if old, ok := had[i.Name]; ok {
			_, err = store.conn.Client.ImageService().Update(ctx, old, "target", "labels")
		} else {
			err = failure.UnlessGone(store.conn.Client.ImageService().Delete(ctx, i.Name))
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// checkImported makes sure that new images can be run, which also unpacks
// them, so that the first run need not.
func checkImported(ctx context.Context, store *Store, list []images.Image) ([]imagestore.Image, error) {
	named := map[digest.Digest]bool{}
	for _, i := range list {
		named[i.Target.Digest] = named[i.Target.Digest] || !imagestore.IsDigest(i.Name)
	}
	var infos []imagestore.Image
	for _, i := range list {
		if _, err := store.prepare(ctx, i.Target.Digest.String()); err != nil {
			return nil, failure.Of("The import", err)
		}
		if !imagestore.IsDigest(i.Name) || !named[i.Target.Digest] {
			infos = append(infos, store.info(ctx, i))
		}
	}
	sort.Slice(infos, func(a, b int) bool { return infos[a].Name < infos[b].Name })
	return infos, nil
}

// fullName completes the name that an OCI layout gives an image. A bare tag is
// no name; such an image is known by its digest.
func fullName(name string) string {
	if !bytes.ContainsAny([]byte(name), "/:") {
		return ""
	}
	named, err := reference.ParseDockerRef(name)
	if err != nil {
		return ""
	}
	return named.String()
}

// openArchive undoes the compression, and refuses what is no tar before
// anything is done with it.
func openArchive(from io.Reader) (io.ReadCloser, error) {
	plain, err := compression.DecompressStream(from)
	if err != nil {
		return nil, errArchive(err)
	}
	const magicAt, blockSize = 257, 512
	buf := bufio.NewReaderSize(plain, 64<<10)
	head, err := buf.Peek(blockSize)
	if err != nil {
		_ = plain.Close()
		return nil, errArchive(fmt.Errorf("it is too short for a tar, cut off or damaged (%w)", err))
	}
	// Every tar with images in it is of one of the ustar kinds.
	if !bytes.HasPrefix(head[magicAt:], []byte("ustar")) {
		_ = plain.Close()
		return nil, errArchive(errors.New("it is not a tar"))
	}
	return struct {
		io.Reader
		io.Closer
	}{buf, plain}, nil
}

func errArchive(cause error) error {
	return diag.Because(cause, "This is not an archive of images",
		"%s. It must be a tar made by `docker save` or `docker buildx build --output type=oci`, or another OCI layout; it may be compressed "+
			"with gzip or zstd.", failure.Sentence(cause))
}
