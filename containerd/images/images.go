package images

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/errdefs"
	digest "github.com/opencontainers/go-digest"

	"deployster/containerd/bundled"
	"deployster/containerd/contents"
	"deployster/containerd/failure"
	"deployster/containerd/images/transfer"
	"deployster/containerd/registry"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// Store is the images of a containerd, as one client sees them.
type Store struct {
	conn       contents.Conn
	registries *registry.Client
	runs       Preparer
	bundled    bundled.Images
}

// Preparer makes images ready for containers.
type Preparer interface {
	// Prepare returns an error if the image with a digest, which has a record, cannot be run.
	Prepare(ctx context.Context, digest string) error
	// Forget drops what is known of an image. It is called when the image no longer exists.
	Forget(d digest.Digest)
}

// NewStore returns the images of a connection.
func NewStore(c contents.Conn, p Preparer, o registry.Options) *Store {
	return &Store{conn: c, bundled: bundled.New(c.Client), registries: registry.New(o), runs: p}
}

// An image has two records: one under its name, which may move to another image, and one
// under its digest, by which plans and state entries refer to it.

// Images lists the local images, by name.
func (store *Store) Images(ctx context.Context) ([]imagestore.Image, error) {
	ctx = store.conn.Context(ctx)
	list, err := store.conn.Client.ImageService().List(ctx)
	if err != nil {
		return nil, failure.Of("Listing the images", err)
	}
	named := map[digest.Digest]bool{}
	for _, i := range list {
		named[i.Target.Digest] = named[i.Target.Digest] || !imagestore.IsDigest(i.Name)
	}
	var infos []imagestore.Image
	for _, i := range list {
		if (!imagestore.IsDigest(i.Name) || !named[i.Target.Digest]) && i.Labels[labelSignatures] == "" {
			infos = append(infos, store.info(ctx, i))
		}
	}
	sort.Slice(infos, func(a, b int) bool { return infos[a].Name < infos[b].Name })
	return infos, nil
}

func (store *Store) info(ctx context.Context, i images.Image) imagestore.Image {
	info := imagestore.Image{Name: i.Name, Digest: i.Target.Digest.String(), Created: i.CreatedAt, From: i.Labels[labelSource]}
	// The record of a name keeps its time when the name gets another image.
	if content, err := store.conn.Client.ContentStore().Info(ctx, i.Target.Digest); err == nil {
		info.Created = content.CreatedAt
	}
	// Parts for other platforms may be missing; Size counts what is here.
	info.Size, _ = i.Size(ctx, store.conn.Client.ContentStore(), platform())
	return info
}

// Record returns the record of the image with a digest.
func (store *Store) Record(ctx context.Context, d digest.Digest) (images.Image, error) {
	record, err := store.findDigest(ctx, d)
	if err != nil {
		return record, store.missing(ctx, d.String(), err)
	}
	return record, nil
}

// Resolve implements runner.Runner.
func (store *Store) Resolve(ctx context.Context, ref string) (runner.Image, error) {
	ctx = store.conn.Context(ctx)
	name, dgst, err := normalize(ref)
	if err != nil {
		return runner.Image{}, err
	}
	if dgst != "" {
		record, err := store.findDigest(ctx, dgst)
		if err == nil && isPartial(ctx, store.conn.Client.ImageService(), record) {
			err = errdefs.ErrNotFound
		}
		if err != nil {
			return runner.Image{}, store.missing(ctx, ref, err)
		}
		return runner.Image{Reference: name, Digest: dgst.String()}, nil
	}
	i, err := store.findLocal(ctx, name, "")
	if err == nil && isPartial(ctx, store.conn.Client.ImageService(), i) {
		err = errdefs.ErrNotFound
	}
	if err != nil {
		return runner.Image{}, store.missing(ctx, ref, err)
	}
	return obtained(name, i), nil
}

// normalize completes a reference as docker does. If it has a digest, the digest alone
// identifies the image.
func normalize(ref string) (name string, dgst digest.Digest, err error) {
	name, d, err := imagestore.FullName(ref)
	return name, digest.Digest(d), err
}

// findDigest returns a record of the image with a digest: the one under the digest, or else any.
func (store *Store) findDigest(ctx context.Context, dgst digest.Digest) (images.Image, error) {
	i, err := store.conn.Client.ImageService().Get(ctx, dgst.String())
	if err == nil || !errdefs.IsNotFound(err) {
		return i, err
	}
	list, listErr := store.conn.Client.ImageService().List(ctx, "target.digest=="+dgst.String())
	if listErr == nil && len(list) == 0 && store.bundled.EnsureDigest(ctx, dgst) == nil {
		list, listErr = store.conn.Client.ImageService().List(ctx, "target.digest=="+dgst.String())
	}
	if listErr != nil || len(list) == 0 {
		return i, errors.Join(err, listErr)
	}
	return list[0], store.ensureRecord(ctx, list[0])
}

// ensureRecord makes sure that an image has a record under its digest, so that it can be
// run even after its name has moved to another image.
func (store *Store) ensureRecord(ctx context.Context, i images.Image) error {
	if imagestore.IsDigest(i.Name) {
		return nil
	}
	// Mostly the record exists, and reading is cheaper than writing, which waits for other writers.
	service := store.conn.Client.ImageService()
	_, err := service.Get(ctx, i.Target.Digest.String())
	if errdefs.IsNotFound(err) {
		_, err = service.Create(ctx, images.Image{Name: i.Target.Digest.String(), Target: i.Target, Labels: i.Labels})
	}
	if errdefs.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// missing returns the error for an image that was not found.
func (store *Store) missing(ctx context.Context, ref string, err error) error {
	if !errdefs.IsNotFound(err) {
		return failure.Of("Finding the image "+ref, err)
	}
	return errNoImage(ref, nearestIn(ctx, store.conn.Client.ImageService(), ref))
}

// nearestIn returns the name of the local image that a reference was probably intended to
// name, or "".
func nearestIn(ctx context.Context, all images.Store, ref string) string {
	name, dgst, err := normalize(ref)
	if err != nil || dgst != "" {
		return ""
	}
	list, err := all.List(ctx)
	if err != nil {
		return ""
	}
	var names []string
	for _, i := range list {
		if !imagestore.IsDigest(i.Name) && i.Labels[labelSignatures] == "" {
			names = append(names, i.Name)
		}
	}
	return nearest(transfer.Familiar(name), names)
}

func nearest(want string, names []string) string {
	short := make([]string, len(names))
	for i, n := range names {
		if short[i] = transfer.Familiar(n); transfer.Repository(short[i]) == transfer.Repository(want) {
			return short[i] // another tag of the same image
		}
	}
	return words.Nearest(want, short)
}

// errNoImage returns the error for an image that is not here; near is the name that was probably intended.
func errNoImage(reference, near string) error {
	d := diag.Errorf(fmt.Sprintf("No image %s on this machine", reference),
		"Import it with `deployster image import FILE` (a tar of `docker save`), or create it from files with `deployster image pack`; "+
			"`deployster image ls` lists the images of this machine.")
	d.Detail += words.Guess(near)
	return &diag.Caused{Diagnostic: d, Cause: runner.ErrNoImage}
}
