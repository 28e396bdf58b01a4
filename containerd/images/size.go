package images

import (
	"fmt"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/sys/unix"

	"deployster/containerd/images/transfer"
	"deployster/internal/base/words"
)

// checkSize returns an error for an image that is too large for the limit or the disk.
func (p *puller) checkSize(m ocispec.Manifest) error {
	if len(m.Layers) > transfer.MaxLayers {
		return &transfer.RefusedError{Why: fmt.Sprintf("it has %d layers; %d are allowed", len(m.Layers), transfer.MaxLayers)}
	}
	size := int64(0)
	for _, l := range m.Layers {
		if err := transfer.CheckPart(l); err != nil {
			return err
		}
		if size += l.Size; size < 0 || size > p.store.registries.Options.MaxImage {
			return &transfer.RefusedError{Why: fmt.Sprintf("it is too large: its layers have more than %s, which is the limit. "+
				"If it is to be trusted, raise DEPLOYSTER_MAX_IMAGE", words.Bytes(p.store.registries.Options.MaxImage))}
		}
	}
	if p.store.conn.Disk == "" {
		return nil // it is unknown where a daemon stores its content
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(p.store.conn.Disk, &disk); err != nil {
		return nil // writing will fail if there is no space
	}
	if free := int64(disk.Bavail) * int64(disk.Bsize); size > free {
		return &transfer.RefusedError{Why: fmt.Sprintf("the disk is too full: its layers have %s, and %s has %s left. "+
			"Make room, for example with `deployster image prune`, or choose another disk with DEPLOYSTER_DATA_DIR",
			words.Bytes(size), p.store.conn.Disk,
			words.Bytes(free))}
	}
	return nil
}
