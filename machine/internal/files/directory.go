package files

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"deployster/machine/internal/access"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

// DirectoryConfig is what a user writes about a directory.
type DirectoryConfig struct {
	Path string `json:"path" pattern:"^/" deployster:"identity"`
	Attributes
	Parents   bool `json:"parents,omitempty"`
	Recursive bool `json:"recursive,omitempty"`

	Directory string `json:"directory,omitempty"` // of discovery, as Prefix
	Prefix    string `json:"prefix,omitempty"`
}

var directoryDocs = attributeDocs(map[string]string{
	"path":    "The absolute path of the directory.",
	"parents": "Make directories above it that are missing, with mode 0755 and owned by root. They stay when the directory is removed.",
	"recursive": "When the resource is removed, remove the directory with all that it holds. " +
		"Otherwise only an empty directory is removed.",
	"directory": "For discovery only: list the directories below this one.",
	"prefix":    "For discovery only: list the directories whose path begins so.",
})

// DirectoryState is what exists.
type DirectoryState struct {
	Path string `json:"path" doc:"the path of the directory"`
	had
}

type directoryCall = protocol.Call[DirectoryConfig, DirectoryState]

// Directory is the kind of directories.
type Directory struct{ Machine *access.Machine }

// NewDirectory returns the kind directory.
func NewDirectory(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Directory{m}, protocol.About{Label: "Directory", Kind: "linux/directory", Worker: true, Unknowns: true,
		AutoEdges: edges(), Docs: directoryDocs})
}

// tops are directories that are never removed with all that they hold.
var tops = strings.Fields("/bin /boot /dev /etc /home /lib /lib32 /lib64 /libx32 /media /mnt /opt /proc /root /run /sbin /srv /sys " +
	"/tmp /usr /usr/bin /usr/lib /usr/local /usr/sbin /usr/share /var /var/lib /var/log")

func (d Directory) check(c *directoryCall) error {
	if err := d.Machine.CheckPath("/path", c.Config.Path); err != nil {
		return err
	}
	if c.Config.Recursive && (slices.Contains(tops, c.Config.Path) || access.Below(access.DataDirectory, c.Config.Path)) {
		return protocol.Errorf(protocol.ConfigError, "/recursive", "%s belongs to the system, and is not removed with all that it holds",
			c.Config.Path)
	}
	return nil
}

// Read returns the directory at the path, or nil.
func (d Directory) Read(ctx context.Context, c *directoryCall) (*DirectoryState, error) {
	if err := d.check(c); err != nil {
		return nil, err
	}
	look := stat // a link to a directory will do
	if c.Intent == protocol.Absent {
		look = lstat
	}
	info, err := look(d.Machine, c.Config.Path)
	switch {
	case info == nil && err == nil:
		return nil, d.dangling(c)
	case err != nil:
		return nil, err
	case !info.IsDir() && c.Intent == protocol.Absent:
		return nil, nil // the directory is gone, and what took its place is someone else's
	case !info.IsDir():
		return nil, protocol.Errorf(protocol.ConfigError, "/path",
			"%s is %s, and this resource is a directory: remove it first, or choose another path", c.Config.Path, kindOf(info))
	}
	return &DirectoryState{Path: c.Config.Path, had: describe(ctx, d.Machine, info, c.Config.Attributes)}, nil
}

// dangling returns an error for a link that has no target: it would be in the way.
func (d Directory) dangling(c *directoryCall) error {
	if info, err := lstat(d.Machine, c.Config.Path); info != nil && c.Intent == protocol.Present {
		return protocol.Errorf(protocol.ConfigError, "/path",
			"%s is a link whose target does not exist: remove it first, or choose another path",
			c.Config.Path)
	} else if err != nil {
		return err
	}
	return nil
}

// Plan adds missing owners to what the fields decide.
func (d Directory) Plan(ctx context.Context, c *directoryCall, have *DirectoryState) (*protocol.Plan, error) {
	plan, err := c.DefaultPlan(have)
	if plan == nil || err != nil {
		return nil, err
	}
	plan.Reasons = append(plan.Reasons, c.Config.missing(ctx, d.Machine)...)
	return plan, nil
}

// Write makes the directory, or changes its owner and mode.
func (d Directory) Write(ctx context.Context, c *directoryCall) error {
	if err := d.check(c); err != nil {
		return err
	}
	numbers, err := c.Config.resolve(ctx, d.Machine)
	if err != nil {
		return err
	}
	if c.Config.Parents {
		if err := makeParents(ctx, d.Machine, c.Config.Path); err != nil {
			return err
		}
	}
	if err := parent(d.Machine, c.Config.Path); err != nil {
		return err
	}
	unlock, err := replace.Lock(ctx, d.Machine, c.Config.Path)
	if err != nil {
		return err
	}
	defer unlock()
	info, err := stat(d.Machine, c.Config.Path)
	if err != nil {
		return err
	}
	properties := replace.Properties{Mode: numbers.mode, UID: numbers.uid, GID: numbers.gid}
	if info == nil {
		return replace.MakeDirectory(d.Machine, c.Config.Path, properties)
	}
	return replace.ChangeDirectory(d.Machine, c.Config.Path, properties)
}

// makeParents makes the directories above a path, from the top.
func makeParents(ctx context.Context, m *access.Machine, path string) error {
	directory := filepath.Dir(path)
	if info, err := stat(m, directory); info != nil || err != nil {
		return err
	}
	if err := makeParents(ctx, m, directory); err != nil {
		return err
	}
	unlock, err := replace.Lock(ctx, m, directory)
	if err != nil {
		return err
	}
	defer unlock()
	if info, err := stat(m, directory); info != nil || err != nil { // another resource has just made it
		return err
	}
	return replace.MakeDirectory(m, directory, replace.Properties{})
}

// Watch reports changes of the directory itself, not of what is in it.
func (d Directory) Watch(ctx context.Context, c *directoryCall, tell func(detail string)) error {
	if err := d.check(c); err != nil {
		return err
	}
	return Watch(ctx, d.Machine, c.Config.Path, tell)
}

// Discover lists directories.
func (d Directory) Discover(ctx context.Context, c *directoryCall, tell func(DirectoryConfig, string) error) error {
	return discover(ctx, d.Machine, c.Config.Directory, c.Config.Prefix, c.Log, func(path string, info fs.FileInfo) error {
		if !info.IsDir() {
			return nil
		}
		had := describe(ctx, d.Machine, info, Attributes{})
		return tell(DirectoryConfig{Path: path, Attributes: Attributes(had)}, filepath.Base(path))
	})
}
