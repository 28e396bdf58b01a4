package typeclient

import (
	"context"
	"errors"

	"deployster/internal/artifact"
	"deployster/internal/runner"
)

// mountsOf returns the mounts of a call with their places on this host. The files of
// artifacts are brought in for it.
func (c *Client) mountsOf(ctx context.Context, k call) ([]runner.Mount, error) {
	list := runner.MountsIn(c.root, k.mounts)
	for i, m := range k.mounts {
		key, sub, ok := artifact.ParseMount(m.Source)
		if !ok {
			continue
		}
		if c.o.Files == nil {
			return nil, fail(k, errors.ErrUnsupported, "Files of an artifact cannot be shown here", "They were to be at %s.", m.Target)
		}
		path, err := c.o.Files(ctx, key, sub)
		if err != nil {
			return nil, err
		}
		list[i] = runner.Mount{Source: path, Target: m.Target, Own: true}
	}
	return list, nil
}
