package images

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/containerd/containerd/v2/core/content"
	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/containerd/v2/core/leases"
	"github.com/containerd/containerd/v2/core/remotes"
	"github.com/containerd/errdefs"
	"github.com/containerd/platforms"
	digest "github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/sync/errgroup"

	"deployster/containerd/failure"
	"deployster/containerd/images/transfer"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// The limits of a pull. Content from a registry is untrusted.
const (
	pullTimeout   = 2 * time.Hour
	partialAge    = 24 * time.Hour // how long incomplete content is kept
	parallelBlobs = 3              // layers of one image that are fetched at a time
)

// labelSource is a label on an image's records: the full name by which it was pulled.
const labelSource = "deployster.pulled-from"

// Pull fetches an image from its registry, whether it is here or not, and gives it the
// name. It fetches only the content for this machine's platform.
func (store *Store) Pull(ctx context.Context, ref string) (imagestore.Image, error) {
	image, err := store.Obtain(ctx, runner.Wanted{Reference: ref, Pull: runner.PullAlways})
	if err != nil {
		return imagestore.Image{}, err
	}
	ctx = store.conn.Context(ctx)
	record, err := store.records.findDigest(ctx, digest.Digest(image.Digest))
	if err != nil {
		return imagestore.Image{}, failure.Of("Pulling "+ref, err)
	}
	record.Name = image.Reference
	return store.records.info(ctx, record), nil
}

// puller pulls one image, in one or more attempts.
type puller struct {
	store    *Store
	name     string // the full name, under which it is stored
	ref      string // requested from the registry: the name, or the repository with a digest
	want     digest.Digest
	verify   *runner.Verify
	partial  bool // without its layers
	resolver remotes.Resolver
	meter    *transfer.Meter
	other    *ocispec.Platform // the platform of another machine that needs the image; nil = this machine
}

// platform matches the content to be fetched.
func (p *puller) platform() platforms.MatchComparer {
	if p.other != nil {
		return platforms.Only(*p.other)
	}
	return platformOf(images.Image{Labels: p.labels()})
}

// pull fetches an image and gives it the name. want is the digest that it must have, "" =
// any digest that the registry gives.
func (store *Store) pull(ctx context.Context, name string, want digest.Digest, w runner.Wanted) (images.Image, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, pullTimeout,
		fmt.Errorf("it took longer than %s", pullTimeout))
	defer cancel()
	p := &puller{store: store, name: name, ref: name, want: want, verify: w.Verify, partial: w.Remote,
		resolver: store.registries.Resolver(ctx), meter: transfer.NewMeter(transfer.Familiar(name), store.registries.Options.Progress)}
	if want != "" {
		p.ref = imagestore.WithDigest(name, want.String())
	}
	record, err := retry(ctx, p.meter, p.attempt)
	p.meter.End(err)
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, context.Canceled) {
			return record, cause
		} else if cause != nil {
			err = cause
		}
		return record, transfer.Failure(ctx, store.registries, name, err)
	}
	return record, nil
}

// retry calls attempt, and again after transient errors. Fetched content stays for the
// next attempt, also of another process. An attempt that fetches something resets the
// count of failures.
func retry[T any](ctx context.Context, m *transfer.Meter, attempt func(context.Context) (T, error)) (T, error) {
	for failed := 0; ; {
		before := m.Fetched.Load()
		result, err := attempt(ctx)
		if err == nil || ctx.Err() != nil || !transfer.Transient(err) {
			return result, err
		}
		if m.Fetched.Load() > before {
			failed = 0
		}
		if failed == len(transfer.Backoff) {
			return result, err
		}
		pause := transfer.Backoff[failed]
		failed++
		m.Retrying(err, pause)
		select {
		case <-ctx.Done():
			return result, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// attempt makes one attempt. The image gets its records only when all of its content is
// here and it can be run.
func (p *puller) attempt(ctx context.Context) (images.Image, error) {
	ctx, release := p.meter.Watch(ctx)
	defer release()
	target, err := p.lookup(ctx)
	if err != nil {
		return images.Image{}, transfer.Stalled(ctx, err)
	}
	if p.want != "" && target.Digest != p.want {
		return images.Image{}, fmt.Errorf("the registry sent %s in place of %s", target.Digest, p.want)
	}
	if !images.IsManifestType(target.MediaType) && !images.IsIndexType(target.MediaType) {
		return images.Image{}, &transfer.RefusedError{Why: "it is not an image, but " + diag.Visible(target.MediaType)}
	}
	if p.verify != nil {
		p.meter.Phase(imagestore.Verifying)
		if err := p.store.signatures(p.name, target.Digest).verify(ctx, *p.verify); err != nil {
			return images.Image{}, transfer.Stalled(ctx, err)
		}
	}
	leased, done, err := p.store.pullLease(ctx, target.Digest)
	if err != nil {
		return images.Image{}, err
	}
	if err := p.fetch(leased, target); err != nil {
		return images.Image{}, transfer.Stalled(ctx, err)
	}
	release() // nothing more comes over the network
	record, err := p.record(leased, target)
	if transfer.LeaseGone(err) {
		return images.Image{}, err
	}
	if err != nil {
		return images.Image{}, &transfer.RefusedError{Why: failure.Sentence(err)}
	}
	return record, done(ctx)
}

// lookup queries the registry for the descriptor of a name.
func (p *puller) lookup(ctx context.Context) (ocispec.Descriptor, error) {
	p.meter.Phase(imagestore.Resolving)
	_, found, err := p.resolver.Resolve(ctx, p.ref)
	return found, err
}

// resolve is lookup with retries, within a time limit.
func (p *puller) resolve(ctx context.Context) (ocispec.Descriptor, error) {
	ctx, cancel := context.WithTimeout(ctx, transfer.StallAfter)
	defer cancel()
	return retry(ctx, p.meter, p.lookup)
}

// pullLease returns a context with a lease that keeps the fetched content of an image,
// even if incomplete, until the image has its records, or for a day.
func (store *Store) pullLease(ctx context.Context, dgst digest.Digest) (context.Context, func(context.Context) error, error) {
	service, id := store.conn.Client.LeasesService(), "deployster-pull-"+dgst.Encoded()
	lease, err := service.Create(ctx, leases.WithID(id), leases.WithExpiration(partialAge))
	if errdefs.IsAlreadyExists(err) {
		lease, err = leases.Lease{ID: id}, nil
	}
	if err != nil {
		return ctx, nil, err
	}
	done := func(ctx context.Context) error {
		ctx, cancel := store.conn.Detached(ctx, time.Minute)
		defer cancel()
		return failure.UnlessGone(service.Delete(ctx, lease))
	}
	return leases.WithLease(ctx, id), done, nil
}

// fetch fetches all parts of an image: first the manifests and the config, so that an
// image that cannot be run fails early, then its layers.
func (p *puller) fetch(ctx context.Context, target ocispec.Descriptor) error {
	store := p.store.conn.Client.ContentStore()
	from, err := p.resolver.Fetcher(ctx, p.ref)
	if err != nil {
		return err
	}
	fetcher := transfer.Fetcher{Fetcher: from, Meter: p.meter}
	children := images.ChildrenHandler(store)
	children = images.SetChildrenMappedLabels(store, children, nil)
	children = images.FilterPlatforms(children, p.platform())
	children = images.LimitManifests(children, p.platform(), 1)
	handler := images.Handlers(
		images.HandlerFunc(func(_ context.Context, d ocispec.Descriptor) ([]ocispec.Descriptor, error) {
			return nil, transfer.CheckPart(d)
		}),
		fetchHandler(store, fetcher), withoutLayers(children))
	err = images.Dispatch(ctx, handler, nil, target)
	if other := transfer.CheckPlatformFor(ctx, store, target, p.other); other != nil && !p.partial {
		return &transfer.RefusedError{Why: failure.Sentence(other)}
	} else if err != nil {
		return err
	}
	manifest, err := images.Manifest(ctx, store, target, p.platform())
	if err == nil && p.other == nil {
		_, err = ReadConfig(ctx, store, images.Image{Target: target, Labels: p.labels()})
	}
	if err != nil {
		return &transfer.RefusedError{Why: failure.Sentence(err)}
	}
	if err := p.checkSize(manifest); err != nil {
		return err
	}
	if p.partial {
		return nil
	}
	return p.fetchLayers(ctx, fetcher, manifest.Layers)
}

// withoutLayers returns a handler that skips the layers of a manifest.
func withoutLayers(h images.HandlerFunc) images.HandlerFunc {
	return func(ctx context.Context, d ocispec.Descriptor) ([]ocispec.Descriptor, error) {
		if images.IsManifestType(d.MediaType) {
			all, err := h(ctx, d)
			var rest []ocispec.Descriptor
			for _, c := range all {
				if images.IsKnownConfig(c.MediaType) {
					rest = append(rest, c)
				}
			}
			return rest, err
		}
		return h(ctx, d)
	}
}

func (p *puller) fetchLayers(ctx context.Context, fetcher remotes.Fetcher, layers []ocispec.Descriptor) error {
	store := p.store.conn.Client.ContentStore()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelBlobs)
	var parts []ocispec.Descriptor
	seen, total := map[digest.Digest]bool{}, int64(0)
	for _, l := range layers {
		if seen[l.Digest] {
			continue
		}
		seen[l.Digest] = true
		// A layer that is here must become part of the lease, too.
		if _, err := store.Info(ctx, l.Digest); err != nil && !errdefs.IsNotFound(err) {
			return err
		} else if err != nil {
			total += l.Size
		}
		parts = append(parts, l)
	}
	p.meter.Begin(total)
	fetch := fetchHandler(store, fetcher)
	for _, l := range parts {
		group.Go(func() error {
			if err := transfer.CheckPart(l); err != nil {
				return err
			}
			_, err := fetch(ctx, l)
			return err
		})
	}
	return group.Wait()
}

// fetchHandler returns a handler that fetches one part. It discards wrong content, so
// that the next attempt does not continue with it.
func fetchHandler(store content.Store, fetcher remotes.Fetcher) images.HandlerFunc {
	fetch := remotes.FetchHandler(store, fetcher)
	return func(ctx context.Context, d ocispec.Descriptor) ([]ocispec.Descriptor, error) {
		_, err := fetch(ctx, d)
		if err != nil && errdefs.IsFailedPrecondition(err) {
			err = errors.Join(&transfer.ContentError{Digest: d.Digest}, failure.UnlessGone(store.Abort(ctx, remotes.MakeRefKey(ctx, d))))
		}
		return nil, err
	}
}
