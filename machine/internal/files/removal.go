package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"

	"deployster/machine/internal/replace"
	"deployster/protocol"
)

// PlanAbsence calls the removal of a directory that holds something destructive.
func (d Directory) PlanAbsence(_ context.Context, c *directoryCall, _ *DirectoryState) (*protocol.Plan, error) {
	remove := protocol.Action{Name: "delete"}
	if !c.Config.Recursive {
		return &protocol.Plan{Actions: []protocol.Action{remove}}, nil
	}
	names, err := os.ReadDir(d.Machine.Path(c.Config.Path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if len(names) == 0 {
		return &protocol.Plan{Actions: []protocol.Action{remove}}, nil
	}
	remove.Destructive, remove.Description = true, fmt.Sprintf("Remove the directory with all that it holds: %s", some(names))
	return &protocol.Plan{Actions: []protocol.Action{remove}}, nil
}

// shownNames is how many names an error or a description has.
const shownNames = 5

// some names a few entries, and how many more there are.
func some(names []fs.DirEntry) string {
	var list []string
	for _, n := range names[:min(len(names), shownNames)] {
		list = append(list, n.Name())
	}
	text := strings.Join(list, ", ")
	if more := len(names) - len(list); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Delete removes the directory.
func (d Directory) Delete(_ context.Context, c *directoryCall) error {
	if err := d.check(c); err != nil {
		return err
	}
	err := replace.RemoveDirectory(d.Machine, c.Config.Path)
	switch {
	case errors.Is(err, unix.EBUSY):
		return fmt.Errorf("%s is a mount or holds one: %w", c.Config.Path, err)
	case !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, unix.EEXIST):
		return err
	}
	real := d.Machine.Path(c.Config.Path)
	if !c.Config.Recursive {
		names, _ := os.ReadDir(real)
		return fmt.Errorf("%s is not empty, and is not removed: it holds %s; recursive = true removes it with all that it holds",
			c.Config.Path, some(names))
	}
	if err := noMounts(real); err != nil {
		return err
	}
	return replace.RemoveAll(d.Machine, c.Config.Path)
}

// noMounts returns an error if something is mounted below a directory: it would be emptied.
func noMounts(real string) error {
	real, err := filepath.EvalSymlinks(real) // as the kernel lists them
	if err != nil {
		return err
	}
	mounts, err := mountinfo.GetMounts(mountinfo.PrefixFilter(real))
	if err != nil {
		return fmt.Errorf("the mounts below %s cannot be listed: %w", real, err)
	}
	if len(mounts) > 0 {
		return fmt.Errorf("%s holds a mount at %s, which would be emptied: unmount it first", real, mounts[0].Mountpoint)
	}
	return nil
}
