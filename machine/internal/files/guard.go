package files

import (
	"context"
	"io"
	"slices"

	"deployster/machine/internal/access"
	"deployster/machine/internal/saved"
)

// cutting are the directories whose files decide whether a machine can be reached.
var cutting = []string{"/etc/ssh", "/etc/network", "/etc/netplan", "/etc/systemd/network"}

// Guards reports whether the actions on the file are guarded.
func (f File) Guards(c *fileCall) bool {
	if c.Config.Guarded != nil {
		return *c.Config.Guarded
	}
	return slices.ContainsFunc(cutting, func(dir string) bool { return access.Below(c.Config.Path, dir) })
}

// Save saves the file.
func (f File) Save(_ context.Context, c *fileCall, dir string) error {
	path, err := f.check(c)
	if err != nil {
		return err
	}
	return saved.Directory{Machine: f.Machine, Path: dir}.PutFile("file", path, c.Config.InPlace)
}

// Undo restores the file.
func (f File) Undo(ctx context.Context, _ io.Writer, dir string) error {
	return saved.Directory{Machine: f.Machine, Path: dir}.RestoreFile(ctx, "file")
}
