package images

import (
	"context"
	"errors"

	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/errdefs"
	digest "github.com/opencontainers/go-digest"

	"deployster/containerd/failure"
	"deployster/containerd/images/transfer"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/runner"

	"deployster/internal/runtime/runner/imagestore"
)

// Obtain makes sure that an image is here, by the rules of w, and returns its name and
// digest. If the image does not have the digest w.Digest, Obtain returns an
// *runner.DigestError and changes nothing.
func (store *Store) Obtain(ctx context.Context, w runner.Wanted) (runner.Image, error) {
	ctx = store.conn.Context(ctx)
	name, dgst, err := normalize(w.Reference)
	if err != nil {
		return runner.Image{}, err
	}
	if imagestore.Reserved(name) {
		w.Pull = runner.PullNever
	}
	want := digest.Digest(w.Digest)
	if dgst != "" && want == "" {
		want = dgst
	}
	record, err := store.records.findLocal(ctx, name, dgst)
	unnamed := false
	switch {
	case err != nil && !errdefs.IsNotFound(err):
		return runner.Image{}, failure.Of("Finding the image "+w.Reference, err)
	case err == nil && want != "" && record.Target.Digest != want && w.Force, err != nil && want != "" && dgst == "":
		// The name belongs to another image here, or to none; the image may be here under
		// its digest.
		record, err = store.records.findDigest(ctx, want)
		unnamed = true
	case err == nil && want != "" && record.Target.Digest != want && w.Pull != runner.PullAlways:
		return runner.Image{}, &runner.DigestError{Reference: w.Reference, Have: record.Target.Digest.String(), Want: want.String()}
	}
	if err != nil && !errdefs.IsNotFound(err) {
		return runner.Image{}, failure.Of("Finding the image "+w.Reference, err)
	}
	present := err == nil && (w.Remote || !isPartial(ctx, store.conn.Client.ImageService(), record))
	switch {
	case present && (w.Pull != runner.PullAlways || dgst != ""):
		image, err := store.checkHere(ctx, name, record, w)
		if err == nil && unnamed {
			err = store.records.giveName(ctx, name, record)
		}
		return image, err
	case w.Pull == runner.PullNever, imagestore.IsDigest(name):
		return runner.Image{}, errNotPulled(w, nearestIn(ctx, store.conn.Client.ImageService(), w.Reference))
	case w.Pull == runner.PullAlways && dgst == "":
		return store.refresh(ctx, name, record, present, w)
	}
	record, err = store.pull(ctx, name, want, w)
	if err != nil {
		return runner.Image{}, withAdvice(ctx, store, w.Reference, err)
	}
	return obtained(name, record), nil
}

// obtained returns the Image of a record. It counts as pulled only if it was pulled by
// this name: a registry need not have an image whose name was given by hand.
func obtained(name string, record images.Image) runner.Image {
	source, dgst := record.Labels[labelSource], record.Target.Digest.String()
	// A digest identifies the image without the tag.
	same := source == name || source == imagestore.WithDigest(name, dgst) || imagestore.WithDigest(source, dgst) == name
	return runner.Image{Reference: name, Digest: dgst, Pulled: source != "" && same}
}

// checkHere returns a local image if it has the required signature.
func (store *Store) checkHere(ctx context.Context, name string, record images.Image, w runner.Wanted) (runner.Image, error) {
	if w.Verify != nil {
		if err := store.signatures(name, record.Target.Digest).verify(ctx, *w.Verify); err != nil {
			return runner.Image{}, transfer.Failure(ctx, store.registries, name, err)
		}
	}
	return obtained(name, record), nil
}

// refresh queries the registry for the current digest of a tag, and fetches that image if it
// is not here.
func (store *Store) refresh(ctx context.Context, name string, record images.Image, present bool, w runner.Wanted) (runner.Image, error) {
	now, err := store.Remote(ctx, name)
	if err != nil {
		return runner.Image{}, err
	}
	if w.Digest != "" && now != w.Digest {
		return runner.Image{}, &runner.DigestError{Reference: w.Reference, Have: now, Want: w.Digest, InRegistry: true}
	}
	if !present || record.Target.Digest.String() != now {
		if record, err = store.pull(ctx, name, digest.Digest(now), w); err != nil {
			return runner.Image{}, err
		}
		return obtained(name, record), nil
	}
	return store.checkHere(ctx, name, record, w)
}

// Remote queries the registry for the digest of a tag. It fetches nothing.
func (store *Store) Remote(ctx context.Context, ref string) (string, error) {
	name, dgst, err := normalize(ref)
	if err != nil || dgst != "" {
		return dgst.String(), err
	}
	ctx = store.conn.Context(ctx)
	m := transfer.NewMeter(transfer.Familiar(name), store.registries.Options.Progress)
	p := &puller{store: store, name: name, ref: name, resolver: store.registries.Resolver(ctx), meter: m}
	found, err := p.resolve(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", transfer.Failure(ctx, store.registries, name, err)
	}
	return found.Digest.String(), nil
}

// withAdvice adds to the error of an implicit pull what else can be done: the name may be
// that of an image that was never in a registry.
func withAdvice(ctx context.Context, store *Store, ref string, err error) error {
	var (
		d *diag.Diagnostic
	)
	if errors.Is(err, context.Canceled) || !errors.As(err, &d) ||
		errors.Is(err, errNotSigned) || diag.Is[*transfer.RefusedError](err) || diag.Is[*transfer.ContentError](err) {
		return err // the image exists, so advice on other ways to import it does not help
	}
	return diag.Because(err, "No image "+ref+" on this machine, and it cannot be pulled",
		"%s\nAn image that is in no registry is imported with `deployster image import FILE`, or packed with `deployster image pack`; "+
			"`deployster image ls` lists the images of this machine.%s", d.Detail,
		words.Guess(nearestIn(ctx, store.conn.Client.ImageService(), ref)))
}

func errNotPulled(w runner.Wanted, near string) error {
	why := ""
	if w.Pull == runner.PullNever {
		why = "Its type has pull = \"never\", so no registry was queried. "
	}
	err := errNoImage(w.Reference, near)
	if d, ok := errors.AsType[*diag.Diagnostic](err); ok {
		d.Detail = why + d.Detail
	}
	return err
}
