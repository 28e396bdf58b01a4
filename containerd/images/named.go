package images

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/containerd/containerd/v2/core/content"
	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/errdefs"
	digest "github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"deployster/containerd/failure"
	"deployster/containerd/images/transfer"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
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
		s.Name, err = store.pushed(ctx, record)
	}
	return s, err
}

// pushed returns the name under which a registry has an image that was not pulled.
func (store *Store) pushed(ctx context.Context, record images.Image) (string, error) {
	list, err := store.conn.Client.ImageService().List(ctx, "target.digest=="+record.Target.Digest.String())
	if err != nil {
		return "", failure.Of("Finding the names of the image "+record.Name, err)
	}
	names, why := registryNames(list), ""
	for _, name := range names {
		_, there, err := store.registries.Resolver(ctx).Resolve(ctx, name)
		switch {
		case err == nil && there.Digest == record.Target.Digest:
			return name, nil
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
		case err == nil:
			why += fmt.Sprintf(" The registry has another image under the name %s.", transfer.Familiar(name))
		case !errdefs.IsNotFound(err) && strings.HasPrefix(names[0], defaultRegistry) == strings.HasPrefix(name, defaultRegistry):
			why += fmt.Sprintf(" Whether the registry has %s is not known: %s.", transfer.Familiar(name), failure.Sentence(err))
		}
	}
	name := transfer.Familiar(append(names, record.Name)[0])
	advice := "Push it: deployster image push " + name
	if len(names) == 0 || strings.HasPrefix(names[0], defaultRegistry) {
		advice = fmt.Sprintf("Give it the name of a registry that the nodes reach, and push it: deployster image tag %s "+
			"registry.example.com/NAME:TAG, and deployster image push registry.example.com/NAME:TAG. Then name that image in the "+
			"manifest", name)
	}
	return "", &runner.StartError{Fault: runner.NotPushed,
		Text: fmt.Sprintf("%s was packed here, and a cluster fetches images from registries.%s %s", name, why, advice)}
}

// defaultRegistry is the beginning of names that were written without a registry.
const defaultRegistry = "docker.io/"

// registryNames returns the names by which a registry may have an image. Those of the default registry come last: they may have been
// given without a registry in mind.
func registryNames(list []images.Image) []string {
	var own, others []string
	for _, i := range list {
		switch {
		case imagestore.Reserved(i.Name), imagestore.IsDigest(i.Name):
		case strings.HasPrefix(i.Name, defaultRegistry):
			others = append(others, i.Name)
		default:
			own = append(own, i.Name)
		}
	}
	slices.Sort(own)
	slices.Sort(others)
	return append(own, others...)
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
