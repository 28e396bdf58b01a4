package bundled

import (
	"archive/tar"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/errdefs"
	digest "github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"deployster/containerd/failure"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner/imagestore"
)

// Images are the images that come with deployster.
type Images struct {
	client *client.Client
	dirs   []string // where their layouts may be, the first ones first
}

// New returns the images that come with this program.
func New(c *client.Client) Images {
	var dirs []string
	if dir := os.Getenv("DEPLOYSTER_LIBEXEC"); dir != "" {
		dirs = append(dirs, filepath.Join(dir, "images"))
	}
	if self, err := os.Executable(); err == nil {
		dirs = append(dirs, filepath.Join(filepath.Dir(self), "images"))
	}
	return Images{client: c, dirs: append(dirs, "/usr/lib/deployster/images")}
}

// Ensure returns the record of a reserved name, which is made if it is missing or is that of
// another deployster.
func (b Images) Ensure(ctx context.Context, name string) (images.Image, error) {
	dir, target, err := b.find(name)
	if err != nil {
		return images.Image{}, err
	}
	service := b.client.ImageService()
	record, err := service.Get(ctx, name)
	if err == nil && record.Target.Digest == target.Digest || err != nil && !errdefs.IsNotFound(err) {
		return record, err
	}
	if err := b.load(ctx, name, dir); err != nil {
		return images.Image{}, failure.Of("Loading the image "+name, err)
	}
	return service.Get(ctx, name)
}

// EnsureDigest makes the record of the image with a digest, if that comes with deployster.
func (b Images) EnsureDigest(ctx context.Context, d digest.Digest) error {
	for _, root := range b.dirs {
		layouts, _ := os.ReadDir(root) // most machines have one such directory
		for _, l := range layouts {
			name := imagestore.Own + l.Name()
			if _, target, err := b.find(name); err == nil && target.Digest == d {
				_, err := b.Ensure(ctx, name)
				return err
			}
		}
	}
	return errdefs.ErrNotFound
}

// find returns the layout of a reserved name, and what it is the layout of.
func (b Images) find(name string) (dir string, target ocispec.Descriptor, err error) {
	short := strings.TrimPrefix(name, imagestore.Own)
	for _, root := range b.dirs {
		dir := filepath.Join(root, short)
		text, err := os.ReadFile(filepath.Join(dir, ocispec.ImageIndexFile))
		if os.IsNotExist(err) {
			continue
		}
		var index ocispec.Index
		if err == nil {
			err = json.Unmarshal(text, &index)
		}
		if err == nil && len(index.Manifests) != 1 {
			err = fmt.Errorf("it has %d images", len(index.Manifests))
		}
		if err != nil {
			return "", target, diag.Errorf("The image "+name+" is damaged", "%s: %s. Install this deployster again.", dir,
				failure.Sentence(err))
		}
		return dir, index.Manifests[0], nil
	}
	return "", target, diag.Errorf(name+" is not installed with this deployster",
		"Names like %sNAME without a registry are those of images that "+
			"come with deployster, in %s. Install it whole, with its directory images; for an image of a registry write its registry too.",
		imagestore.Own, strings.Join(b.dirs, ", "))
}

// load imports a layout under a reserved name.
func (b Images) load(ctx context.Context, name, dir string) error {
	from, to := io.Pipe()
	go func() {
		w := tar.NewWriter(to)
		err := w.AddFS(os.DirFS(dir))
		if err == nil {
			err = w.Close()
		}
		to.CloseWithError(err)
	}()
	defer from.Close()
	_, err := b.client.Import(ctx, from,
		client.WithAllPlatforms(true), // hosts may have another architecture
		client.WithImageLabels(map[string]string{}),
		client.WithImageRefTranslator(func(string) string { return name }),
		client.WithDigestRef(func(d digest.Digest) string { return d.String() }))
	return err
}
