package typeclient

import (
	"errors"

	"deployster/internal/artifact"
	"deployster/internal/runner"
)

// mountsOf returns the mounts of a call with their places on this host. Who calls has
// put the files of artifacts in their places, or said which are sent to another machine.
func (c *Client) mountsOf(k call) ([]runner.Mount, error) {
	list := runner.MountsIn(c.root, k.mounts)
	for _, m := range list {
		if _, _, ok := artifact.ParseMount(m.Source); ok && m.Files == nil {
			return nil, fail(k, errors.ErrUnsupported, "Files of an artifact cannot be shown here", "They were to be at %s.", m.Target)
		}
	}
	return list, nil
}
