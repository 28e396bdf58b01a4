package images

import (
	"context"
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
	records    records
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
	return &Store{conn: c, records: records{c, bundled.New(c.Client)}, registries: registry.New(o), runs: p}
}

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
			infos = append(infos, store.records.info(ctx, i))
		}
	}
	sort.Slice(infos, func(a, b int) bool { return infos[a].Name < infos[b].Name })
	return infos, nil
}

// Record returns the record of the image with a digest.
func (store *Store) Record(ctx context.Context, d digest.Digest) (images.Image, error) {
	record, err := store.records.findDigest(ctx, d)
	if err != nil {
		return record, store.records.missing(ctx, d.String(), err)
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
		record, err := store.records.findDigest(ctx, dgst)
		if err == nil && isPartial(ctx, store.conn.Client.ImageService(), record) {
			err = errdefs.ErrNotFound
		}
		if err != nil {
			return runner.Image{}, store.records.missing(ctx, ref, err)
		}
		return runner.Image{Reference: name, Digest: dgst.String()}, nil
	}
	i, err := store.records.findLocal(ctx, name, "")
	if err == nil && isPartial(ctx, store.conn.Client.ImageService(), i) {
		err = errdefs.ErrNotFound
	}
	if err != nil {
		return runner.Image{}, store.records.missing(ctx, ref, err)
	}
	return obtained(name, i), nil
}

// normalize completes a reference as docker does. If it has a digest, the digest alone
// identifies the image.
func normalize(ref string) (name string, dgst digest.Digest, err error) {
	name, d, err := imagestore.FullName(ref)
	return name, digest.Digest(d), err
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
