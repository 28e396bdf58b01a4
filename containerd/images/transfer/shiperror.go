package transfer

import (
	"errors"
	"fmt"

	"deployster/containerd/failure"
)

// ShipFailure words the error of an image that could not be fetched from another store.
func ShipFailure(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrStalled): // not a registry: the message must not name one
		return fmt.Errorf("copying the image %s to this host failed: no data for a minute", Familiar(name))
	}
	return failure.Of("Bringing the image "+Familiar(name)+" to this host", err)
}
