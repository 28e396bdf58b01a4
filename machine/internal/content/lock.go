package content

import (
	"context"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/machine/internal/replace"
)

// lock keeps others from writing to a path, whose directory must exist, until unlock is called. It returns the change
// to the attributes.
func lock(ctx context.Context, m *access.Machine, path string, a files.Attributes) (change replace.Change, unlock func(), err error) {
	if err := files.Parent(m, path); err != nil {
		return change, nil, err
	}
	if change, err = a.Change(ctx, m); err != nil {
		return change, nil, err
	}
	unlock, err = replace.Lock(ctx, m, path)
	return change, unlock, err
}
