package images

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/containerd/containerd/v2/core/content"
	"github.com/containerd/containerd/v2/core/images"
	digest "github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"deployster/containerd/failure"
	"deployster/containerd/images/transfer"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner/imagestore"
)

// Named describes a local image for a place that fetches it from its registry: by which name, for
// which platforms, and what it runs. An image that was not pulled is searched for in the registry of
// its name, once for each command.
func (store *Store) Named(ctx context.Context, dgst string) (imagestore.Shipment, error) {
	ctx = store.conn.Context(ctx)
	record, err := store.records.findDigest(ctx, digest.Digest(dgst))
	if err != nil {
		return imagestore.Shipment{}, store.records.missing(ctx, dgst, err)
	}
	cs := store.conn.Client.ContentStore()
	config, err := ReadConfig(ctx, cs, record)
	if err != nil {
		return imagestore.Shipment{}, diag.Because(err, "The image "+record.Name+" cannot be run", "%s.", failure.Sentence(err))
	}
	s := imagestore.Shipment{Name: record.Labels[labelSource], Digest: dgst, MediaType: record.Target.MediaType, Size: record.Target.Size,
		Entrypoint: config.Config.Entrypoint, Cmd: config.Config.Cmd}
	if s.Platforms, err = platformsOf(ctx, cs, record, config.Platform); err != nil {
		return imagestore.Shipment{}, failure.Of("Reading the image "+record.Name, err)
	}
	if s.Name == "" {
		s.Name = record.Name
		err = store.pushed(ctx, record)
	}
	return s, err
}

// pushed returns an error unless the registry in the name of an image has the image.
func (store *Store) pushed(ctx context.Context, record images.Image) error {
	name := record.Name
	if !imagestore.Reserved(name) && !imagestore.IsDigest(name) {
		_, there, err := store.registries.Resolver(ctx).Resolve(ctx, name)
		if err == nil && there.Digest == record.Target.Digest {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	name = transfer.Familiar(name)
	return diag.Errorf("This image is only on this machine", "%s was packed here, and a cluster fetches images from registries. Give it "+
		"the name of a registry that the nodes reach, and push it: deployster image tag %[1]s registry.example.com/NAME:TAG, and "+
		"deployster image push registry.example.com/NAME:TAG. Then name that image in the manifest.", name)
}

// platformsOf returns the platforms of an image: those in its index, or own, which is that of its config.
func platformsOf(ctx context.Context, cs content.Store, record images.Image, own ocispec.Platform) ([]string, error) {
	if !images.IsIndexType(record.Target.MediaType) {
		return []string{own.OS + "/" + own.Architecture}, nil
	}
	blob, err := content.ReadBlob(ctx, cs, record.Target)
	if err != nil {
		return nil, err
	}
	var index ocispec.Index
	if err := json.Unmarshal(blob, &index); err != nil {
		return nil, err
	}
	var list []string
	for _, m := range index.Manifests {
		p := m.Platform
		if p == nil {
			p = &own
		}
		if name := p.OS + "/" + p.Architecture; p.OS != "unknown" && !slices.Contains(list, name) { // an attestation has none
			list = append(list, name)
		}
	}
	return list, nil
}
