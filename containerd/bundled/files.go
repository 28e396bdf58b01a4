package bundled

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/containerd/errdefs"
	digest "github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"deployster/containerd/failure"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// Files are the images that come with deployster, in its files. Whoever is sent their contents
// compares these with the digests.
type Files struct {
	dirs []string // where their layouts may be, the first ones first
}

// Find returns the images that come with this program.
func Find() Files {
	var dirs []string
	if dir := os.Getenv("DEPLOYSTER_LIBEXEC"); dir != "" {
		dirs = append(dirs, filepath.Join(dir, "images"))
	}
	if self, err := os.Executable(); err == nil {
		dirs = append(dirs, filepath.Join(filepath.Dir(self), "images"))
	}
	return Files{append(dirs, "/usr/lib/deployster/images")}
}

// Image returns the image of a reserved name.
func (f Files) Image(name string) (runner.Image, error) {
	_, target, err := f.find(name)
	return runner.Image{Reference: name, Digest: target.Digest.String()}, err
}

// Shipment describes the image with a digest for another store; the error is one of errdefs if no such
// image comes with deployster.
func (f Files) Shipment(dgst string) (imagestore.Shipment, error) {
	name, target, err := f.named(digest.Digest(dgst))
	return imagestore.Shipment{Name: name, Digest: dgst, MediaType: target.MediaType, Size: target.Size}, err
}

// Has reports whether a content is one of an image that comes with deployster.
func (f Files) Has(dgst string) bool { return f.path(dgst) != "" }

// maxPiece is how many bytes of a content are read at a time.
const maxPiece = 512 << 10

// ReadContent implements imagestore.Contents.
func (f Files) ReadContent(_ context.Context, dgst string, offset int64, n int) (content []byte, err error) {
	file, err := os.Open(f.path(dgst))
	if err != nil {
		return nil, fmt.Errorf("the content %s of an image that comes with deployster: %w", dgst, err)
	}
	defer func() { _ = file.Close() }() // it was only read
	content = make([]byte, max(0, min(n, maxPiece)))
	read, err := file.ReadAt(content, offset)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return content[:read], err
}

// path is the file of a content; "" = there is none.
func (f Files) path(dgst string) string {
	d, err := digest.Parse(dgst)
	if err != nil {
		return ""
	}
	for _, dir := range f.layouts() {
		path := filepath.Join(dir, ocispec.ImageBlobsDir, d.Algorithm().String(), d.Encoded())
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// layouts returns the directories of the layouts.
func (f Files) layouts() (list []string) {
	for _, root := range f.dirs {
		found, _ := os.ReadDir(root) // most machines have one such directory
		for _, l := range found {
			list = append(list, filepath.Join(root, l.Name()))
		}
	}
	return list
}

// named returns the name of the image with a digest, and what its layout is the layout of.
func (f Files) named(d digest.Digest) (name string, target ocispec.Descriptor, err error) {
	for _, dir := range f.layouts() {
		name := imagestore.Own + filepath.Base(dir)
		if _, target, err := f.find(name); err == nil && target.Digest == d {
			return name, target, nil
		}
	}
	return "", target, fmt.Errorf("image %s: %w", d, errdefs.ErrNotFound)
}

// find returns the layout of a reserved name, and what it is the layout of.
func (f Files) find(name string) (dir string, target ocispec.Descriptor, err error) {
	short := strings.TrimPrefix(name, imagestore.Own)
	for _, root := range f.dirs {
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
		imagestore.Own, strings.Join(f.dirs, ", "))
}
