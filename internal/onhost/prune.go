package onhost

import (
	"context"
	"errors"
	"fmt"
	"io"

	"deployster/internal/runtime/runner/imagestore"
)

// Images are those of a machine.
type Images interface {
	Unused(ctx context.Context, keep map[string]bool, all bool) ([]imagestore.Image, error)
	Remove(ctx context.Context, references []string) ([]imagestore.Image, error)
}

// Prune removes the images without a name, which all have that were sent here, and prints what it removed. Clients send
// again what they need.
func Prune(ctx context.Context, images Images, to io.Writer) error {
	unused, err := images.Unused(ctx, nil, false)
	if err != nil {
		return err
	}
	var names []string
	for _, i := range unused {
		names = append(names, i.Name)
	}
	removed, err := images.Remove(ctx, names)
	for _, i := range removed {
		_, writeErr := fmt.Fprintf(to, "Removed %s\n", i.Digest)
		err = errors.Join(err, writeErr)
	}
	return err
}
