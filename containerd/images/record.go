package images

import (
	"context"
	"errors"
	"time"

	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/errdefs"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"deployster/containerd/failure"
	"deployster/internal/runtime/runner/imagestore"
)

// labelPartial is a label on the record under the digest of an image: "true" = the image has no layers
// here, since only hosts run it that fetch it themselves.
const labelPartial = "deployster.without-layers"

// record creates the records of an image, by digest and by name. An image that cannot be run gets none.
func (p *puller) record(ctx context.Context, target ocispec.Descriptor) (images.Image, error) {
	store, service := p.store, p.store.conn.Client.ImageService()
	record := images.Image{Name: target.Digest.String(), Target: target, Labels: p.labels()}
	if !imagestore.IsDigest(p.name) {
		record.Labels[labelSource] = p.name
	}
	change := []string{"labels." + labelSource}
	if !p.partial {
		change = append(change, "labels."+labelPartial)
		p.meter.Phase(imagestore.Unpacking)
	}
	created, err := service.Create(ctx, record)
	fresh := err == nil
	if errdefs.IsAlreadyExists(err) {
		created, err = service.Update(ctx, record, change...)
	}
	if err == nil && !p.partial {
		err = p.prepare(ctx, target, fresh)
	}
	if err != nil {
		return created, err
	}
	return created, store.records.giveName(ctx, p.name, created)
}

// labels returns the labels of what is pulled, without its name.
func (p *puller) labels() map[string]string {
	if p.partial {
		return map[string]string{labelPartial: "true"}
	}
	return map[string]string{}
}

// prepare makes an image ready for containers. If that is not possible, it removes a fresh record.
func (p *puller) prepare(ctx context.Context, target ocispec.Descriptor, fresh bool) error {
	err := p.store.runs.Prepare(ctx, target.Digest.String())
	if err != nil && fresh {
		undo, cancel := p.store.conn.Detached(ctx, time.Minute)
		defer cancel()
		err = errors.Join(err, failure.UnlessGone(p.store.conn.Client.ImageService().Delete(undo, target.Digest.String())))
	}
	return err
}

// isPartial reports whether an image was fetched for hosts alone that fetch it themselves.
func isPartial(ctx context.Context, all images.Store, i images.Image) bool {
	record, err := all.Get(ctx, i.Target.Digest.String())
	return err == nil && record.Labels[labelPartial] == "true"
}
