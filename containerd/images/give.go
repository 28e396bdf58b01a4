package images

import (
	"context"
	"io"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/images/archive"
	"github.com/containerd/platforms"

	"deployster/containerd/failure"
	"deployster/containerd/images/transfer"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner/imagestore"
)

// Tag gives a local image other names. A name that another image had moves to this one;
// the other image stays under its digest.
func (store *Store) Tag(ctx context.Context, source string, targets []string) ([]imagestore.Image, error) {
	ctx = store.conn.Context(ctx)
	record, err := store.records.local(ctx, source)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, target := range targets {
		name, dgst, err := normalize(target)
		if err != nil {
			return nil, err
		}
		if dgst != "" {
			return nil, diag.Errorf("Not a valid image name", "%s contains a digest, which cannot be set. Write NAME:TAG.",
				diag.Visible(target))
		}
		if imagestore.Reserved(name) {
			return nil, imagestore.Taken(name)
		}
		names = append(names, name)
	}
	var infos []imagestore.Image
	for _, name := range names {
		if old, err := store.conn.Client.ImageService().Get(ctx, name); err == nil {
			if err := store.records.ensureRecord(ctx, old); err != nil {
				return infos, failure.Of("Naming the image "+name, err)
			}
		}
		if err := store.records.giveName(ctx, name, record); err != nil {
			return infos, failure.Of("Naming the image "+name, err)
		}
		named := record
		named.Name = name
		infos = append(infos, store.records.info(ctx, named))
	}
	return infos, nil
}

// Save writes a local image as a tar, which is an OCI layout that docker reads too.
func (store *Store) Save(ctx context.Context, reference string, to io.Writer) error {
	ctx = store.conn.Context(ctx)
	record, err := store.records.local(ctx, reference)
	if err != nil {
		return err
	}
	name, dgst, err := normalize(reference)
	if err != nil {
		return err
	}
	named := archive.WithManifest(record.Target)
	if dgst == "" {
		named = archive.WithManifest(record.Target, name)
	}
	if err := store.conn.Client.Export(ctx, to, named, archive.WithPlatform(platform())); err != nil {
		return failure.Of("Saving the image "+reference, err)
	}
	return nil
}

// Push sends a local image to the registry in another name, or in its own, and returns its digest
// there, which is the same as here. An image that comes with deployster is sent for all its platforms.
func (store *Store) Push(ctx context.Context, reference, as string) (imagestore.Image, error) {
	ctx = store.conn.Context(ctx)
	name, dgst, err := normalize(as)
	if err != nil {
		return imagestore.Image{}, err
	}
	if dgst != "" {
		return imagestore.Image{}, diag.Errorf("Not a valid image name", "%s contains a digest. Name the tag for the registry; "+
			"`deployster image tag` gives the image that name here.", diag.Visible(as))
	}
	if imagestore.Reserved(name) {
		return imagestore.Image{}, imagestore.Taken(name)
	}
	record, err := store.records.local(ctx, reference)
	if err != nil {
		return imagestore.Image{}, err
	}
	of := platform()
	if imagestore.Reserved(record.Name) {
		of = platforms.All
	}
	err = store.conn.Client.Push(ctx, name, record.Target, client.WithResolver(store.registries.Resolver(ctx)),
		client.WithPlatformMatcher(of))
	if err != nil {
		if ctx.Err() != nil {
			return imagestore.Image{}, context.Cause(ctx)
		}
		return imagestore.Image{}, diag.Because(err, "The image "+transfer.Familiar(name)+" cannot be pushed",
			"%s. The registry must allow it: `docker login` keeps credentials where deployster reads them.", failure.Sentence(err))
	}
	record.Name = name
	return store.records.info(ctx, record), nil
}
