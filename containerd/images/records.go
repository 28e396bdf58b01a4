package images

import (
	"context"
	"errors"

	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/errdefs"
	digest "github.com/opencontainers/go-digest"

	"deployster/containerd/bundled"
	"deployster/containerd/contents"
	"deployster/containerd/failure"
	"deployster/containerd/images/transfer"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner/imagestore"
)

// records are the records of the images of a containerd. An image has two: one under its name, which may move to another
// image, and one under its digest, by which plans and state entries refer to it.
type records struct {
	conn    contents.Conn
	bundled bundled.Images
}

// findDigest returns a record of the image with a digest: the one under the digest, or else any.
func (r records) findDigest(ctx context.Context, dgst digest.Digest) (images.Image, error) {
	i, err := r.conn.Client.ImageService().Get(ctx, dgst.String())
	if err == nil || !errdefs.IsNotFound(err) {
		return i, err
	}
	list, listErr := r.conn.Client.ImageService().List(ctx, "target.digest=="+dgst.String())
	if listErr == nil && len(list) == 0 && r.bundled.EnsureDigest(ctx, dgst) == nil {
		list, listErr = r.conn.Client.ImageService().List(ctx, "target.digest=="+dgst.String())
	}
	if listErr != nil || len(list) == 0 {
		return i, errors.Join(err, listErr)
	}
	return list[0], r.ensureRecord(ctx, list[0])
}

// findLocal looks up a local image by its name, or by the digest in the name.
func (r records) findLocal(ctx context.Context, name string, dgst digest.Digest) (images.Image, error) {
	if dgst != "" {
		return r.findDigest(ctx, dgst)
	}
	find := r.conn.Client.ImageService().Get
	if imagestore.Reserved(name) {
		find = r.bundled.Ensure
	}
	record, err := find(ctx, name)
	if err == nil {
		err = r.ensureRecord(ctx, record)
	}
	return record, err
}

// local returns the record of a local image that has its layers here.
func (r records) local(ctx context.Context, reference string) (images.Image, error) {
	name, dgst, err := normalize(reference)
	if err != nil {
		return images.Image{}, err
	}
	record, err := r.findLocal(ctx, name, dgst)
	if err != nil {
		return images.Image{}, r.missing(ctx, reference, err)
	}
	if isPartial(ctx, r.conn.Client.ImageService(), record) {
		return images.Image{}, diag.Errorf("The image has no layers here", "%s was fetched for clusters, which fetch its layers "+
			"themselves. `deployster image pull` fetches them here.", transfer.Familiar(name))
	}
	return record, nil
}

// ensureRecord makes sure that an image has a record under its digest, so that it can be
// run even after its name has moved to another image.
func (r records) ensureRecord(ctx context.Context, i images.Image) error {
	if imagestore.IsDigest(i.Name) {
		return nil
	}
	// Mostly the record exists, and reading is cheaper than writing, which waits for other writers.
	service := r.conn.Client.ImageService()
	_, err := service.Get(ctx, i.Target.Digest.String())
	if errdefs.IsNotFound(err) {
		_, err = service.Create(ctx, images.Image{Name: i.Target.Digest.String(), Target: i.Target, Labels: i.Labels})
	}
	if errdefs.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// giveName gives an image a name. A name with a digest needs no record: the digest has
// one.
func (r records) giveName(ctx context.Context, name string, i images.Image) error {
	if _, dgst, err := normalize(name); err != nil || dgst != "" {
		return err
	}
	service := r.conn.Client.ImageService()
	named := images.Image{Name: name, Target: i.Target, Labels: i.Labels}
	_, err := service.Create(ctx, named)
	if errdefs.IsAlreadyExists(err) {
		_, err = service.Update(ctx, named, "target", "labels")
	}
	return err
}

func (r records) info(ctx context.Context, i images.Image) imagestore.Image {
	info := imagestore.Image{Name: i.Name, Digest: i.Target.Digest.String(), Created: i.CreatedAt, From: i.Labels[labelSource]}
	// The record of a name keeps its time when the name gets another image.
	if content, err := r.conn.Client.ContentStore().Info(ctx, i.Target.Digest); err == nil {
		info.Created = content.CreatedAt
	}
	// Parts for other platforms may be missing; Size counts what is here.
	info.Size, _ = i.Size(ctx, r.conn.Client.ContentStore(), platform())
	return info
}

// missing returns the error for an image that was not found.
func (r records) missing(ctx context.Context, ref string, err error) error {
	if !errdefs.IsNotFound(err) {
		return failure.Of("Finding the image "+ref, err)
	}
	return errNoImage(ref, nearestIn(ctx, r.conn.Client.ImageService(), ref))
}
