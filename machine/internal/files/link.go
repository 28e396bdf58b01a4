package files

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"deployster/machine/internal/access"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

// LinkConfig is what a user writes about a symbolic link.
type LinkConfig struct {
	Path    string `json:"path" pattern:"^/" deployster:"identity"`
	Target  string `json:"target" minLength:"1"`
	Replace bool   `json:"replace,omitempty"`

	Directory string `json:"directory,omitempty"` // of discovery, as Prefix
	Prefix    string `json:"prefix,omitempty"`
}

var linkDocs = map[string]string{
	"path":      "The absolute path of the link.",
	"target":    "Where the link leads: an absolute path, or one from the directory of the link. It need not exist.",
	"replace":   "Replace a file that is at the path. Otherwise that is an error. A directory is never replaced.",
	"directory": "For discovery only: list the links in and below this directory.",
	"prefix":    "For discovery only: list the links whose path begins so.",
}

// LinkState is what exists.
type LinkState struct {
	Path   string `json:"path" doc:"the path of the link"`
	Target string `json:"target" doc:"where the link leads"`
	Other  string `json:"other,omitempty" doc:"what is at the path in place of a link"`
}

type linkCall = protocol.Call[LinkConfig, LinkState]

// Link is the kind of symbolic links.
type Link struct{ Machine *access.Machine }

// NewLink returns the kind link.
func NewLink(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Link{m}, protocol.About{Label: "Link", Kind: "linux/link", Worker: true, Unknowns: true, AutoEdges: edges()[:1],
		Docs: linkDocs})
}

// Read returns the link at the path, or nil.
func (l Link) Read(_ context.Context, c *linkCall) (*LinkState, error) {
	if err := l.Machine.CheckPath("/path", c.Config.Path); err != nil {
		return nil, err
	}
	info, err := lstat(l.Machine, c.Config.Path)
	switch {
	case info == nil || err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(l.Machine.Path(c.Config.Path))
		return &LinkState{Path: c.Config.Path, Target: target}, err
	case c.Intent == protocol.Absent:
		return nil, nil // the link is gone, and what took its place is someone else's
	case !info.Mode().IsRegular():
		return nil, protocol.Errorf(protocol.ConfigError, "/path",
			"%s is %s, and is not replaced by a link: remove it first, or choose another path", c.Config.Path, kindOf(info))
	case !c.Config.Replace:
		return nil, protocol.Errorf(protocol.ConfigError, "/path",
			"%s is a file: set replace = true to have the link in its place, and lose the file", c.Config.Path)
	}
	return &LinkState{Path: c.Config.Path, Other: "file"}, nil
}

// Plan calls the replacement of a file destructive.
func (l Link) Plan(_ context.Context, c *linkCall, have *LinkState) (*protocol.Plan, error) {
	plan, err := c.DefaultPlan(have)
	if plan == nil || err != nil {
		return nil, err
	}
	if have != nil && have.Other != "" {
		plan.Actions = []protocol.Action{{Name: "replace", Description: "Replace the file by the link", Destructive: true}}
		plan.Reasons = []protocol.Reason{{Path: "/path", Message: "a file is at the path"}}
		plan.Unknown = append(plan.Unknown, "/other")
	}
	return plan, nil
}

// Write makes the link, or has it lead elsewhere.
func (l Link) Write(ctx context.Context, c *linkCall) error { return l.write(ctx, c, false) }

// Act replaces a file by the link.
func (l Link) Act(ctx context.Context, c *linkCall) error { return l.write(ctx, c, true) }

func (l Link) write(ctx context.Context, c *linkCall, overFile bool) error {
	if err := l.Machine.CheckPath("/path", c.Config.Path); err != nil {
		return err
	}
	if err := parent(l.Machine, c.Config.Path); err != nil {
		return err
	}
	unlock, err := replace.Lock(ctx, l.Machine, c.Config.Path)
	if err != nil {
		return err
	}
	defer unlock()
	info, err := lstat(l.Machine, c.Config.Path)
	switch {
	case err != nil:
		return err
	case info == nil, info.Mode()&fs.ModeSymlink != 0, info.Mode().IsRegular() && overFile && c.Config.Replace:
		return replace.Link(l.Machine, c.Config.Path, c.Config.Target)
	}
	return fmt.Errorf("%s is %s since the state was queried, and is not replaced", c.Config.Path, kindOf(info))
}

// Delete removes the link.
func (l Link) Delete(ctx context.Context, c *linkCall) error {
	info, err := lstat(l.Machine, c.Config.Path)
	switch {
	case info == nil || err != nil:
		return err
	case info.Mode()&fs.ModeSymlink == 0:
		return fmt.Errorf("%s is %s, not a link, and is not removed", c.Config.Path, kindOf(info))
	}
	unlock, err := replace.Lock(ctx, l.Machine, c.Config.Path)
	if err != nil {
		return err
	}
	defer unlock()
	return replace.Remove(l.Machine, c.Config.Path)
}

// Watch reports changes of the link.
func (l Link) Watch(ctx context.Context, c *linkCall, tell func(detail string)) error {
	if err := l.Machine.CheckPath("/path", c.Config.Path); err != nil {
		return err
	}
	return Watch(ctx, l.Machine, c.Config.Path, tell)
}

// Discover lists links.
func (l Link) Discover(ctx context.Context, c *linkCall, tell func(LinkConfig, string) error) error {
	return discover(ctx, l.Machine, c.Config.Directory, c.Config.Prefix, c.Log, func(path string, info fs.FileInfo) error {
		if info.Mode()&fs.ModeSymlink == 0 {
			return nil
		}
		target, err := os.Readlink(l.Machine.Path(path))
		if err != nil {
			return nil // removed meanwhile
		}
		return tell(LinkConfig{Path: path, Target: target}, filepath.Base(path))
	})
}
