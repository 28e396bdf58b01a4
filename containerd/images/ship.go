package images

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/containerd/v2/core/remotes"
	"github.com/containerd/errdefs"
	"github.com/containerd/platforms"
	digest "github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"deployster/containerd/failure"
	"deployster/containerd/images/transfer"
	"deployster/internal/runtime/runner/imagestore"
)

// maxPiece is how many bytes of a content are read at a time.
const maxPiece = 512 << 10

// Shipment describes a local image for another store. If that needs another architecture,
// its content is first fetched from the registry of the image.
func (store *Store) Shipment(ctx context.Context, dgst, arch string) (imagestore.Shipment, error) {
	record, err := store.records.findDigest(store.conn.Context(ctx), digest.Digest(dgst))
	if err != nil {
		return imagestore.Shipment{}, store.records.missing(ctx, dgst, err)
	}
	s := imagestore.Shipment{Name: record.Name, Digest: dgst, MediaType: record.Target.MediaType, Size: record.Target.Size}
	if from := record.Labels[labelSource]; from != "" {
		s.Name = from
	}
	if arch == runtime.GOARCH {
		return s, nil
	}
	return s, store.fetchFor(store.conn.Context(ctx), record, s.Name, ocispec.Platform{OS: "linux", Architecture: arch})
}

// fetchFor fetches what another platform needs of an image. That content remains as long as the image.
func (store *Store) fetchFor(ctx context.Context, record images.Image, name string, other ocispec.Platform) error {
	manifest, err := images.Manifest(ctx, store.conn.Client.ContentStore(), record.Target, platforms.Only(other))
	missing := err
	for _, l := range manifest.Layers {
		_, err := store.conn.Client.ContentStore().Info(ctx, l.Digest)
		missing = errors.Join(missing, err)
	}
	if missing == nil || record.Labels[labelSource] == "" {
		return nil // the receiver reports missing content
	}
	ctx, cancel := context.WithTimeoutCause(ctx, pullTimeout, fmt.Errorf("it took longer than %s", pullTimeout))
	defer cancel()
	p := &puller{store: store, name: name, ref: imagestore.WithDigest(name, record.Target.Digest.String()), other: &other,
		resolver: store.registries.Resolver(ctx), meter: transfer.NewMeter(transfer.Familiar(name), store.registries.Options.Progress)}
	done, err := retry(ctx, p.meter, func(ctx context.Context) (func(context.Context) error, error) {
		ctx, release := p.meter.Watch(ctx)
		defer release()
		leased, done, err := store.pullLease(ctx, record.Target.Digest)
		if err != nil {
			return nil, err
		}
		return done, transfer.Stalled(ctx, p.fetch(leased, record.Target))
	})
	p.meter.End(err)
	if err != nil {
		return transfer.Failure(ctx, store.registries, name, err)
	}
	return done(ctx)
}

// ReadContent implements imagestore.Contents.
func (store *Store) ReadContent(ctx context.Context, dgst string, offset int64, n int) (content []byte, err error) {
	d, err := digest.Parse(dgst)
	if err != nil {
		return nil, err
	}
	at, err := store.conn.Client.ContentStore().ReaderAt(store.conn.Context(ctx), ocispec.Descriptor{Digest: d})
	if err != nil {
		return nil, failure.Of("Reading the content "+dgst, err)
	}
	defer func() { err = errors.Join(err, at.Close()) }()
	if offset < 0 || offset > at.Size() {
		return nil, fmt.Errorf("the content %s has %d bytes, and none at %d", dgst, at.Size(), offset)
	}
	content = make([]byte, min(int64(min(n, maxPiece)), at.Size()-offset))
	if _, err := at.ReadAt(content, offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, failure.Of("Reading the content "+dgst, err)
	}
	return content, nil
}

// Receive fetches an image from another store: the content that is missing here and
// needed on this platform. All of it is checked against its digests.
func (store *Store) Receive(ctx context.Context, s imagestore.Shipment, from imagestore.Contents) error {
	ctx = store.conn.Context(ctx)
	if err := store.runs.Prepare(ctx, s.Digest); err == nil {
		return nil
	}
	target := ocispec.Descriptor{MediaType: s.MediaType, Digest: digest.Digest(s.Digest), Size: s.Size}
	if err := target.Digest.Validate(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, pullTimeout, fmt.Errorf("it took longer than %s", pullTimeout))
	defer cancel()
	// Names are local to a store: the image is identified by its digest.
	p := &puller{store: store, name: s.Digest, ref: s.Digest, want: target.Digest, resolver: shipped{target, from},
		meter: transfer.NewMeter(transfer.Familiar(s.Name), func(imagestore.Progress) {})}
	_, err := p.attempt(ctx)
	for transfer.LeaseGone(err) {
		_, err = p.attempt(ctx)
	}
	p.meter.End(err)
	return transfer.ShipFailure(s.Name, err)
}

// shipped is a remotes.Resolver for one image of another store.
type shipped struct {
	target ocispec.Descriptor
	from   imagestore.Contents
}

func (s shipped) Resolve(_ context.Context, ref string) (string, ocispec.Descriptor, error) {
	return ref, s.target, nil
}

func (s shipped) Fetcher(context.Context, string) (remotes.Fetcher, error) { return s, nil }

func (s shipped) Pusher(context.Context, string) (remotes.Pusher, error) {
	return nil, errdefs.ErrNotImplemented
}

// Fetch implements remotes.Fetcher.
func (s shipped) Fetch(ctx context.Context, d ocispec.Descriptor) (io.ReadCloser, error) {
	return &shippedContent{ctx: ctx, from: s.from, d: d}, nil
}

// shippedContent reads one content from another store.
type shippedContent struct {
	ctx  context.Context // of the Fetch
	from imagestore.Contents
	d    ocispec.Descriptor
	at   int64
	rest []byte // rest of the last piece
}

func (c *shippedContent) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		if c.at >= c.d.Size {
			return 0, io.EOF
		}
		piece, err := c.from.ReadContent(c.ctx, c.d.Digest.String(), c.at, maxPiece)
		if err != nil {
			return 0, err
		}
		if len(piece) == 0 {
			return 0, io.ErrUnexpectedEOF
		}
		c.at += int64(len(piece))
		c.rest = piece
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// Seek allows the fetch of a partly received content to continue.
func (c *shippedContent) Seek(offset int64, whence int) (int64, error) {
	if whence != io.SeekStart || offset < 0 {
		return 0, errdefs.ErrNotImplemented
	}
	c.at, c.rest = offset, nil
	return offset, nil
}

func (c *shippedContent) Close() error { return nil }
