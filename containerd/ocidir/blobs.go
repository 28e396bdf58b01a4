package ocidir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/containerd/containerd/v2/core/content"
	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/errdefs"
	digest "github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"deployster/internal/base/durable"
)

// locks is the directory of the locks of contents that are being written.
const locks = "locks"

// young is the age up to which a content is kept that no image needs: it may belong to a pull of
// another process. No pull takes as long.
const young = 3 * time.Hour

// blobs are the contents. Of the processes that write one, one writes at a time.
type blobs struct {
	content.Store
	dir string
}

// Writer implements content.Ingester. It returns ErrUnavailable while another process writes the
// same, and then its callers try again.
func (b *blobs) Writer(ctx context.Context, opts ...content.WriterOpt) (content.Writer, error) {
	var o content.WriterOpts
	for _, opt := range opts {
		if err := opt(&o); err != nil {
			return nil, err
		}
	}
	lock, err := b.lock(o.Ref)
	if err != nil {
		return nil, err
	}
	w, err := b.Store.Writer(ctx, opts...)
	if err != nil {
		if errdefs.IsAlreadyExists(err) && o.Desc.Digest != "" {
			now := time.Now()
			err = errors.Join(err, os.Chtimes(b.path(o.Desc.Digest), now, now)) // it is needed again
		}
		return nil, errors.Join(err, lock.Remove())
	}
	return &writer{Writer: w, release: sync.OnceValue(lock.Remove)}, nil
}

// lock locks what is written under a reference.
func (b *blobs) lock(ref string) (*durable.Lock, error) {
	path := filepath.Join(b.dir, locks, digest.FromString(ref).Encoded())
	lock, err := durable.TryLock(path, true, "deployster")
	if locked, is := errors.AsType[*durable.LockedError](err); is {
		return nil, fmt.Errorf("%w: %w", locked, errdefs.ErrUnavailable)
	}
	if err == nil && !lock.InPlace() {
		return nil, errors.Join(fmt.Errorf("%s was written a moment ago: %w", ref, errdefs.ErrUnavailable), lock.Unlock())
	}
	return lock, err
}

// path is the file of a content.
func (b *blobs) path(d digest.Digest) string {
	return filepath.Join(b.dir, ocispec.ImageBlobsDir, d.Algorithm().String(), d.Encoded())
}

// writer is a content.Writer that holds a lock until it is closed.
type writer struct {
	content.Writer
	release func() error
}

// Close implements content.Writer.
func (w *writer) Close() error { return errors.Join(w.Writer.Close(), w.release()) }

// sweep removes the contents that none of the images needs, except young ones.
func (b *blobs) sweep(ctx context.Context, list []images.Image) error {
	needed := map[digest.Digest]bool{}
	children := images.ChildrenHandler(b)
	for _, i := range list {
		err := images.Walk(ctx, images.HandlerFunc(func(ctx context.Context, d ocispec.Descriptor) ([]ocispec.Descriptor, error) {
			needed[d.Digest] = true
			below, err := children(ctx, d)
			if errdefs.IsNotFound(err) {
				return nil, nil // for another platform: it was not fetched
			}
			return below, err
		}), i.Target)
		if err != nil {
			return err
		}
	}
	var old []digest.Digest
	err := b.Walk(ctx, func(i content.Info) error {
		if !needed[i.Digest] && time.Since(i.CreatedAt) > young {
			old = append(old, i.Digest)
		}
		return nil
	})
	for _, d := range old {
		if gone := b.Delete(ctx, d); gone != nil && !errdefs.IsNotFound(gone) {
			err = errors.Join(err, gone)
		}
	}
	return err
}
