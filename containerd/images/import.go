package images

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sort"
	"time"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/containerd/v2/pkg/archive/compression"
	"github.com/distribution/reference"
	digest "github.com/opencontainers/go-digest"

	"deployster/containerd/failure"
	"deployster/containerd/images/transfer"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner/imagestore"
)

// Import imports images from a tar of `docker save` or of an OCI layout; either may be
// compressed. It returns the images sorted by name. It leaves out images for other
// platforms and without files, and reports them to elsewhere, unless the archive has no
// others.
func (store *Store) Import(ctx context.Context, from io.Reader, elsewhere func(name string, why error)) ([]imagestore.Image, error) {
	ctx = store.conn.Context(ctx)
	plain, err := openArchive(from)
	if err != nil {
		return nil, err
	}
	defer plain.Close()
	// Until leaveOut has removed the images for other platforms, only this lease protects
	// their content.
	ctx, done, err := store.conn.Client.WithLease(ctx)
	if err != nil {
		return nil, failure.Of("The import", err)
	}
	defer func() { _ = done(context.WithoutCancel(ctx)) }() // if it fails, the lease expires
	before, err := store.conn.Client.ImageService().List(ctx)
	if err != nil {
		return nil, failure.Of("The import", err)
	}
	imported, err := store.conn.Client.Import(ctx, plain,
		client.WithImportPlatform(platform()),
		client.WithImageLabels(map[string]string{}), // a name by which an image was pulled is now that of a local image
		client.WithSkipMissing(),                    // an index may name other platforms, which are not in the archive
		client.WithImageRefTranslator(fullName),
		client.WithDigestRef(func(d digest.Digest) string { return d.String() }))
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if errors.Is(err, images.ErrEmptyWalk) {
			err = fmt.Errorf("there is no image for %s in it", transfer.PlatformName())
		}
		return nil, errArchive(err)
	}
	if len(imported) == 0 {
		return nil, errArchive(errors.New("there is no image in it"))
	}
	m := importing{store, imported, before}
	kept, err := m.leaveOut(ctx, elsewhere)
	if err != nil {
		return nil, err
	}
	infos, err := m.check(ctx, kept)
	if err != nil {
		undo, cancel := store.conn.Detached(ctx, time.Minute)
		defer cancel()
		return nil, failure.Join(err, m.restore(undo, imported))
	}
	return infos, nil
}

// importing is an import whose images are in the store, but not yet checked.
type importing struct {
	store            *Store
	imported, before []images.Image // the new images, and all that there were
}

// leaveOut removes the images for other platforms and those without files again, if there
// are any that can run here.
func (m importing) leaveOut(ctx context.Context, elsewhere func(string, error)) ([]images.Image, error) {
	var kept, other []images.Image
	var why []error
	for _, i := range m.imported {
		err := transfer.CheckPlatform(ctx, m.store.conn.Client.ContentStore(), i.Target)
		if err == nil {
			if _, cerr := ReadConfig(ctx, m.store.conn.Client.ContentStore(), i); errors.Is(cerr, errNoFiles) {
				err = cerr // a signature, for example, or another artifact in the form of an image
			}
		}
		if err != nil {
			other, why = append(other, i), append(why, err)
		} else {
			kept = append(kept, i)
		}
	}
	if len(kept) == 0 {
		return m.imported, nil // check reports that the first of them cannot be run
	}
	for n, i := range other {
		if !imagestore.IsDigest(i.Name) {
			elsewhere(transfer.Familiar(i.Name), why[n])
		}
	}
	return kept, m.restore(ctx, other)
}

// restore undoes an import: it removes images of it, and gives names back to the images
// that had them before.
func (m importing) restore(ctx context.Context, list []images.Image) error {
	had := map[string]images.Image{}
	for _, i := range m.before {
		had[i.Name] = i
	}
	var errs []error
	for _, i := range list {
		m.store.runs.Forget(i.Target.Digest)
		var err error
		if old, ok := had[i.Name]; ok {
			_, err = m.store.conn.Client.ImageService().Update(ctx, old, "target", "labels")
		} else {
			err = failure.UnlessGone(m.store.conn.Client.ImageService().Delete(ctx, i.Name))
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// check makes sure that new images can be run. It also unpacks them, so that the
// first run need not.
func (m importing) check(ctx context.Context, list []images.Image) ([]imagestore.Image, error) {
	named := map[digest.Digest]bool{}
	for _, i := range list {
		named[i.Target.Digest] = named[i.Target.Digest] || !imagestore.IsDigest(i.Name)
	}
	var infos []imagestore.Image
	for _, i := range list {
		if err := m.store.runs.Prepare(ctx, i.Target.Digest.String()); err != nil {
			return nil, failure.Of("The import", err)
		}
		if !imagestore.IsDigest(i.Name) || !named[i.Target.Digest] {
			infos = append(infos, m.store.records.info(ctx, i))
		}
	}
	sort.Slice(infos, func(a, b int) bool { return infos[a].Name < infos[b].Name })
	return infos, nil
}

// fullName completes the name that an OCI layout gives an image. A bare tag is not a
// name; such an image is identified by its digest.
func fullName(name string) string {
	if !bytes.ContainsAny([]byte(name), "/:") {
		return ""
	}
	named, err := reference.ParseDockerRef(name)
	if err != nil {
		return ""
	}
	return named.String()
}

// openArchive decompresses an archive, and returns an error for anything but a tar,
// before any of it is used.
func openArchive(from io.Reader) (io.ReadCloser, error) {
	plain, err := compression.DecompressStream(from)
	if err != nil {
		return nil, errArchive(err)
	}
	const magicAt, blockSize = 257, 512
	buf := bufio.NewReaderSize(plain, 64<<10)
	head, err := buf.Peek(blockSize)
	if err != nil {
		_ = plain.Close()
		return nil, errArchive(fmt.Errorf("it is too short for a tar, truncated or damaged (%w)", err))
	}
	// Every tar of images has one of the ustar formats.
	if !bytes.HasPrefix(head[magicAt:], []byte("ustar")) {
		_ = plain.Close()
		return nil, errArchive(errors.New("it is not a tar"))
	}
	return struct {
		io.Reader
		io.Closer
	}{buf, plain}, nil
}

func errArchive(cause error) error {
	return diag.Because(cause, "This is not an archive of images",
		"%s. It must be a tar made by `docker save` or `docker buildx build --output type=oci`, or another OCI layout; it may be "+
			"compressed with gzip or zstd.", failure.Sentence(cause))
}
