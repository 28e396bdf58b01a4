package images

import (
	"context"
	"errors"
	"sort"

	"github.com/containerd/containerd/v2/core/images"
	digest "github.com/opencontainers/go-digest"

	"deployster/containerd/failure"
	"deployster/containerd/images/transfer"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner/imagestore"
)

// Unused lists the images that can be removed: with all, every image whose digest is not
// in keep, otherwise only those of them that have no name any more.
func (store *Store) Unused(ctx context.Context, keep map[string]bool, all bool) ([]imagestore.Image, error) {
	list, err := store.Images(ctx)
	if err != nil {
		return nil, err
	}
	var unused []imagestore.Image
	for _, i := range list {
		if !keep[i.Digest] && (all || imagestore.IsDigest(i.Name)) {
			unused = append(unused, i)
		}
	}
	return unused, nil
}

// Remove removes images, by name or by digest, and returns them. An image remains as long
// as it has another name. Its content is removed unless other images share it.
func (store *Store) Remove(ctx context.Context, refs []string) ([]imagestore.Image, error) {
	ctx = store.conn.Context(ctx)
	service := store.conn.Client.ImageService()
	var removed []imagestore.Image
	var errs []error
	for _, ref := range refs {
		name, dgst, err := normalize(ref)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		record, err := store.records.findLocal(ctx, name, dgst)
		if err != nil {
			errs = append(errs, store.records.missing(ctx, ref, err))
			continue
		}
		info := store.records.info(ctx, record)
		if dgst == "" {
			info.Name = name
			err = failure.UnlessGone(service.Delete(ctx, name))
		}
		if err == nil {
			err = store.removeUnnamed(ctx, record.Target.Digest, dgst != "")
		}
		if err != nil {
			errs = append(errs, failure.Of("Removing "+ref, err))
			continue
		}
		removed = append(removed, info)
	}
	sort.Slice(removed, func(a, b int) bool { return removed[a].Name < removed[b].Name })
	return removed, errors.Join(errs...)
}

// removeUnnamed removes an image that has no name any more, with its signatures. insist
// makes a remaining name an error.
func (store *Store) removeUnnamed(ctx context.Context, dgst digest.Digest, insist bool) error {
	service := store.conn.Client.ImageService()
	list, err := service.List(ctx, "target.digest=="+dgst.String())
	if err != nil {
		return err
	}
	for _, i := range list {
		if !imagestore.IsDigest(i.Name) {
			if insist {
				return diag.Errorf("The image has a name", "%s is %s. Remove it by that name.", dgst, transfer.Familiar(i.Name))
			}
			return nil
		}
	}
	store.runs.Forget(dgst)
	return errors.Join(failure.UnlessGone(service.Delete(ctx, signaturesName(dgst))),
		// Waits until the content is gone, so that the space is free.
		failure.UnlessGone(service.Delete(ctx, dgst.String(), images.SynchronousDelete())))
}
