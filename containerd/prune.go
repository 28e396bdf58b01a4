package containerd

import (
	"context"
	"errors"
	"sort"

	"github.com/containerd/containerd/v2/core/images"
	digest "github.com/opencontainers/go-digest"

	"deployster/internal/base/diag"
)

// Unused lists the images that could be removed: with all, every one whose
// digest is not in keep, otherwise only those that have no name any more.
func (r *Runtime) Unused(ctx context.Context, keep map[string]bool, all bool) ([]ImageInfo, error) {
	list, err := r.Images(ctx)
	if err != nil {
		return nil, err
	}
	var unused []ImageInfo
	for _, i := range list {
		if !keep[i.Digest] && (all || isDigest(i.Name)) {
			unused = append(unused, i)
		}
	}
	return unused, nil
}

// Remove takes images away, by name or by digest, and gives what that was. An
// image stays as long as another name means it. Its content goes as far as no
// other image is made of it.
func (r *Runtime) Remove(ctx context.Context, refs []string) ([]ImageInfo, error) {
	ctx = r.ctx(ctx)
	service := r.client.ImageService()
	var removed []ImageInfo
	var errs []error
	for _, ref := range refs {
		name, dgst, err := normalize(ref)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		record, err := r.local(ctx, name, dgst)
		if err != nil {
			errs = append(errs, r.missing(ctx, ref, err))
			continue
		}
		info := r.info(ctx, record)
		if dgst == "" {
			info.Name = name
			err = unlessGone(service.Delete(ctx, name))
		}
		if err == nil {
			err = r.removeUnnamed(ctx, record.Target.Digest, dgst != "")
		}
		if err != nil {
			errs = append(errs, r.failure("Removing "+ref, err))
			continue
		}
		removed = append(removed, info)
	}
	sort.Slice(removed, func(a, b int) bool { return removed[a].Name < removed[b].Name })
	return removed, errors.Join(errs...)
}

// removeUnnamed removes an image that no name means any more, with its
// signatures.
func (r *Runtime) removeUnnamed(ctx context.Context, dgst digest.Digest, insist bool) error {
	service := r.client.ImageService()
	list, err := service.List(ctx, "target.digest=="+dgst.String())
	if err != nil {
		return err
	}
	for _, i := range list {
		if !isDigest(i.Name) {
			if insist {
				return diag.Errorf("The image has a name", "%s is %s. Remove it by that name.", dgst, familiar(i.Name))
			}
			return nil
		}
	}
	r.forgetImage(dgst)
	return errors.Join(unlessGone(service.Delete(ctx, signaturesName(dgst))),
		// Waits until the content is gone, so that the space is free.
		unlessGone(service.Delete(ctx, dgst.String(), images.SynchronousDelete())))
}
