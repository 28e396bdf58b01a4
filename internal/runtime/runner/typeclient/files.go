package typeclient

import (
	"errors"

	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner"
)

// mountsOf returns the mounts of a call with absolute sources on this host. The caller has replaced
// the files of artifacts by their paths, or has set Files for those that are sent to another machine.
func (c *Client) mountsOf(k call) ([]runner.Mount, error) {
	list := runner.MountsIn(c.root, k.mounts)
	for _, m := range list {
		if _, _, ok := artifact.ParseMount(m.Source); ok && m.Files == nil {
			return nil, fail(k, errors.ErrUnsupported, "Files of an artifact cannot be shown here", "They were to be at %s.", m.Target)
		}
	}
	return list, nil
}
