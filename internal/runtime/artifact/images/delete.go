package images

import (
	"context"
	"errors"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner/typeclient"
)

// Delete implements artifact.Client.
func (c *Client) Delete(ctx context.Context, t artifact.Target, i artifact.Info, in artifact.DeleteInput) error {
	if i.Delete == nil {
		return typeclient.Failed(target(t), artifact.StepDelete, errors.ErrUnsupported, "The image cannot delete versions",
			"Image %s has no delete: its answer to info names none. Delete the version by other means.", diag.Visible(t.Reference))
	}
	source, err := object(in.Source)
	if err != nil {
		return err
	}
	a := typeclient.Ask{Step: artifact.StepDelete, Digest: i.Digest, Command: *i.Delete, Timeout: orElse(t.GetTimeout,
		artifact.DefaultGetTimeout)}
	if a.Stdin, err = encode(getV2{source, in.Space, in.Version}); err != nil {
		return err
	}
	if _, err = c.o.Types.Ask(ctx, target(t), a); err != nil {
		return classed(err)
	}
	return nil
}
