package images

import (
	"context"
	"io"
	"os"

	digest "github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"deployster/internal/base/imagefiles"
)

// writeLayer writes files as one layer, which depends on nothing but them. The
// file is left at its beginning.
func writeLayer(ctx context.Context, to *os.File, files *imagefiles.Set) (ocispec.Descriptor, error) {
	hash := digest.Canonical.Digester()
	if err := files.WriteTar(ctx, io.MultiWriter(to, hash.Hash())); err != nil {
		return ocispec.Descriptor{}, err
	}
	size, err := to.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = to.Seek(0, io.SeekStart)
	}
	// Not compressed: it stays on this machine, and a compressor would have a
	// say in the digest.
	return ocispec.Descriptor{MediaType: ocispec.MediaTypeImageLayer, Digest: hash.Digest(), Size: size}, err
}
