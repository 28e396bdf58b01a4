package images

import (
	"fmt"

	"github.com/containerd/containerd/v2/core/images"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/sys/unix"

	"deployster/internal/base/words"
)

// refusedError says that an image is not one that can be used here, whatever
// the network does.
type refusedError struct{ why string }

func (e *refusedError) Error() string { return e.why }

// checkPart looks at what a manifest says of one of its parts before that is
// fetched.
func checkPart(d ocispec.Descriptor) error {
	switch {
	case d.Digest.Validate() != nil:
		return &refusedError{fmt.Sprintf("it names a part by %q, which is no digest", d.Digest)}
	case d.Size <= 0:
		return &refusedError{fmt.Sprintf("its part %s is said to have %d bytes", d.Digest, d.Size)}
	case len(d.URLs) > 0:
		// These are not of the registry that was asked for: an image could make
		// this machine call any other.
		return &refusedError{fmt.Sprintf("its part %s is to be fetched from somewhere else, %q", d.Digest, d.URLs[0])}
	case (images.IsManifestType(d.MediaType) || images.IsIndexType(d.MediaType)) && d.Size > maxManifest:
		return &refusedError{fmt.Sprintf("its manifest has %d bytes; %d are allowed", d.Size, maxManifest)}
	case images.IsKnownConfig(d.MediaType) && d.Size > maxConfig:
		return &refusedError{fmt.Sprintf("its config has %d bytes; %d are allowed", d.Size, maxConfig)}
	}
	return nil
}

// checkSize refuses an image that is too large for the limit or the disk.
func (store *Store) checkSize(m ocispec.Manifest) error {
	if len(m.Layers) > maxLayers {
		return &refusedError{fmt.Sprintf("it has %d layers; %d are allowed", len(m.Layers), maxLayers)}
	}
	size := int64(0)
	for _, l := range m.Layers {
		if err := checkPart(l); err != nil {
			return err
		}
		if size += l.Size; size < 0 || size > store.registries.options.MaxImage {
			return &refusedError{fmt.Sprintf("it is too large: its layers have more than %s, which is the limit. If it is to be trusted, raise "+
				"DEPLOYSTER_MAX_IMAGE", words.Bytes(store.registries.options.MaxImage))}
		}
	}
	if !store.conn.Embedded {
		return nil // where a daemon keeps its content is its own business
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(store.conn.Config.DataDir, &disk); err != nil {
		return nil // writing will tell
	}
	if free := int64(disk.Bavail) * disk.Bsize; size > free {
		return &refusedError{fmt.Sprintf("the disk is too full: its layers have %s, and %s has %s left. Make room, for example with "+
			"`deployster image prune`, or choose another disk with DEPLOYSTER_DATA_DIR", words.Bytes(size), store.conn.Config.DataDir,
			words.Bytes(free))}
	}
	return nil
}
