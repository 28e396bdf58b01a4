package images

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/containerd/containerd/v2/core/content"
	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/errdefs"
	"github.com/containerd/platforms"
	digest "github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"deployster/containerd/failure"
	"deployster/internal/base/diag"
	"deployster/internal/base/imagefiles"
	"deployster/internal/runtime/runner/imagestore"
)

// Pack makes an image of files. The same files and options always give the same digest,
// on every machine. Without a reference the image gets no name.
func (store *Store) Pack(ctx context.Context, o imagestore.PackOptions) (imagestore.Image, error) {
	ctx = store.conn.Context(ctx)
	name, err := newName(o.Reference)
	if err != nil {
		return imagestore.Image{}, err
	}
	base, manifest, err := store.packBase(ctx, o.Base)
	if err != nil {
		return imagestore.Image{}, err
	}
	if o.Portable {
		base.OS, base.Architecture = "", ""
	}
	layer, err := os.CreateTemp("", "deployster-pack-*")
	if err != nil {
		return imagestore.Image{}, err
	}
	defer func() { _ = errors.Join(layer.Close(), os.Remove(layer.Name())) }()
	files := o.Files
	if files == nil {
		files = &imagefiles.Set{}
		defer func() { _ = files.Close() }() // they were only read
	}
	if o.Dir != "" {
		err = files.AddTree(o.Dir, "/")
	}
	var desc ocispec.Descriptor
	if err == nil {
		desc, err = writeLayer(ctx, layer, files)
	}
	if err != nil {
		return imagestore.Image{}, packFailure(o.Dir, err)
	}
	configure(&base, o)
	base.RootFS.Type = "layers"
	base.RootFS.DiffIDs = append(base.RootFS.DiffIDs, desc.Digest)
	manifest.Layers = append(manifest.Layers, desc)
	leased, done, err := store.conn.Client.WithLease(ctx)
	if err != nil {
		return imagestore.Image{}, failure.Of("Packing the image", err)
	}
	defer func() { _ = done(store.conn.Context(context.WithoutCancel(ctx))) }()
	if err := content.WriteBlob(leased, store.conn.Client.ContentStore(), rand.Text(), layer, desc); err != nil {
		return imagestore.Image{}, failure.Of("Packing the image", err)
	}
	record, err := store.writeImage(leased, name, base, manifest)
	if err != nil {
		return imagestore.Image{}, failure.Of("Packing the image", err)
	}
	return store.records.info(ctx, record), nil
}

// newName returns the full name for a new image; "" = it gets none.
func newName(reference string) (string, error) {
	if reference == "" {
		return "", nil
	}
	name, dgst, err := normalize(reference)
	if err == nil && dgst != "" {
		err = diag.Errorf("A new image needs a name", "%q has a digest in it, which only the finished image has.", reference)
	}
	if err == nil && imagestore.Reserved(name) {
		err = imagestore.Taken(name)
	}
	return name, err
}

func packFailure(dir string, err error) error {
	if dir != "" {
		dir += ": "
	}
	return diag.Because(err, "Cannot create an image from the files", "%s%s.", dir, failure.Sentence(err))
}

// packBase returns the config and the manifest that a new image starts from.
func (store *Store) packBase(ctx context.Context, base string) (c ocispec.Image, m ocispec.Manifest, err error) {
	m = ocispec.Manifest{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest}
	if base == "" {
		// One platform: this machine's architecture, without the variant of its CPU.
		c.OS, c.Architecture = "linux", runtime.GOARCH
		return c, m, nil
	}
	i, err := store.Resolve(ctx, base)
	if err != nil {
		return c, m, err
	}
	record, err := store.records.findDigest(ctx, digest.Digest(i.Digest))
	if err == nil {
		c, err = ReadConfig(ctx, store.conn.Client.ContentStore(), record)
	}
	if err != nil {
		return c, m, failure.Of("Reading the base image "+base, err)
	}
	old, err := images.Manifest(ctx, store.conn.Client.ContentStore(), record.Target, platform())
	if err != nil {
		return c, m, failure.Of("Reading the base image "+base, err)
	}
	m.Layers = old.Layers
	// An OCI manifest must not use docker's media types for layers.
	for i, l := range m.Layers {
		if mt, ok := ociLayer[l.MediaType]; ok {
			m.Layers[i].MediaType = mt
		}
	}
	c.Created, c.History = nil, nil
	return c, m, nil
}

var ociLayer = map[string]string{
	images.MediaTypeDockerSchema2Layer:     ocispec.MediaTypeImageLayer,
	images.MediaTypeDockerSchema2LayerGzip: ocispec.MediaTypeImageLayerGzip,
}

// configure applies the options to a config.
func configure(c *ocispec.Image, o imagestore.PackOptions) {
	if o.Entrypoint != nil {
		c.Config.Entrypoint, c.Config.Cmd = o.Entrypoint, nil
	}
	if o.Cmd != nil {
		c.Config.Cmd = o.Cmd
	}
	if o.User != "" {
		c.Config.User = o.User
	}
	if o.WorkingDir != "" {
		c.Config.WorkingDir = o.WorkingDir
	}
	if len(o.Labels) > 0 {
		c.Config.Labels = maps.Clone(c.Config.Labels)
		if c.Config.Labels == nil {
			c.Config.Labels = map[string]string{}
		}
		maps.Copy(c.Config.Labels, o.Labels)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Env)) {
		c.Config.Env = slices.DeleteFunc(c.Config.Env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
		c.Config.Env = append(c.Config.Env, name+"="+o.Env[name])
	}
}

// writeImage writes config and manifest, and creates the image's two records, by digest
// and, if it has a name, by name.
func (store *Store) writeImage(ctx context.Context, name string, c ocispec.Image, m ocispec.Manifest) (images.Image, error) {
	var err error
	if m.Config, err = store.writeJSON(ctx, ocispec.MediaTypeImageConfig, c, nil); err != nil {
		return images.Image{}, err
	}
	// containerd keeps what a blob refers to as long as the blob.
	refs := map[string]string{"containerd.io/gc.ref.content.config": m.Config.Digest.String()}
	for i, l := range m.Layers {
		refs[fmt.Sprintf("containerd.io/gc.ref.content.l.%d", i)] = l.Digest.String()
	}
	target, err := store.writeJSON(ctx, m.MediaType, m, refs)
	if err != nil {
		return images.Image{}, err
	}
	p := platforms.Normalize(ocispec.Platform{OS: c.OS, Architecture: c.Architecture, Variant: c.Variant})
	target.Platform = &p
	record := images.Image{Name: name, Target: target}
	if err := store.records.ensureRecord(ctx, record); err != nil {
		return record, err
	}
	// The name moves only to an image that can be run. This also unpacks it.
	if err := store.runs.Prepare(ctx, target.Digest.String()); err != nil {
		return record, err
	}
	if name == "" {
		record.Name = target.Digest.String()
		return record, nil
	}
	service := store.conn.Client.ImageService()
	created, err := service.Create(ctx, record)
	if errdefs.IsAlreadyExists(err) {
		created, err = service.Update(ctx, record, "target", "labels")
	}
	return created, err
}

func (store *Store) writeJSON(ctx context.Context, mediaType string, v any, labels map[string]string) (ocispec.Descriptor, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	desc := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(b), Size: int64(len(b))}
	err = content.WriteBlob(ctx, store.conn.Client.ContentStore(), rand.Text(), bytes.NewReader(b), desc, content.WithLabels(labels))
	return desc, err
}

// writeLayer writes files as one layer, whose bytes depend on the files only. It leaves
// the file at its beginning.
func writeLayer(ctx context.Context, to *os.File, files *imagefiles.Set) (ocispec.Descriptor, error) {
	hash := digest.Canonical.Digester()
	if err := files.WriteTar(ctx, io.MultiWriter(to, hash.Hash())); err != nil {
		return ocispec.Descriptor{}, err
	}
	size, err := to.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = to.Seek(0, io.SeekStart)
	}
	// Not compressed: it stays on this machine, and its digest would depend on the
	// compressor.
	return ocispec.Descriptor{MediaType: ocispec.MediaTypeImageLayer, Digest: hash.Digest(), Size: size}, err
}
