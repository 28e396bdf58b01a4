package content

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

// DownloadConfig is what a user writes about a file of a server.
type DownloadConfig struct {
	Path   string `json:"path" pattern:"^/" deployster:"identity"`
	URL    string `json:"url" pattern:"^https?://[^\\s]+$"`
	SHA256 string `json:"sha256" pattern:"^[0-9a-f]{64}$"`
	files.Attributes
}

var downloadDocs = files.AttributeDocs(map[string]string{
	"path":   "The absolute path of the file.",
	"url":    "Where it is fetched, if it has not the checksum.",
	"sha256": "The checksum of its content, as 64 hexadecimal digits.",
})

// DownloadState is what exists.
type DownloadState struct {
	SHA256 string `json:"sha256" doc:"the checksum of the content"`
	Mode   string `json:"mode" doc:"the permissions as four octal digits"`
	Owner  string `json:"owner" doc:"the user that owns it"`
	Group  string `json:"group" doc:"the group that owns it"`
}

type downloadCall = protocol.Call[DownloadConfig, DownloadState]

// Download is the kind of files of servers.
type Download struct{ Machine *access.Machine }

// NewDownload returns the kind download.
func NewDownload(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Download{m}, protocol.About{Label: "Download", Kind: "linux/download", Worker: true, Unknowns: true,
		AutoEdges: files.Edges(), Docs: downloadDocs})
}

// Read returns the file, or nil.
func (k Download) Read(ctx context.Context, c *downloadCall) (*DownloadState, error) {
	if err := k.Machine.CheckPath("/path", c.Config.Path); err != nil {
		return nil, err
	}
	info, err := os.Lstat(k.Machine.Path(c.Config.Path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() && c.Intent == protocol.Absent:
		return nil, nil // the file is gone, and what took its place is someone else's
	case !info.Mode().IsRegular():
		return nil, protocol.Errorf(protocol.ConfigError, "/path",
			"%s is not a regular file: remove it first, or choose another path", c.Config.Path)
	}
	had := files.Describe(ctx, k.Machine, info, c.Config.Attributes)
	sum, err := sumOf(k.Machine.Path(c.Config.Path))
	return &DownloadState{SHA256: sum, Mode: had.Mode, Owner: had.Owner, Group: had.Group}, err
}

// Plan adds missing owners, and what a new owner removes.
func (k Download) Plan(ctx context.Context, c *downloadCall, have *DownloadState) (*protocol.Plan, error) {
	plan, err := c.DefaultPlan(have)
	if plan == nil || err != nil {
		return plan, err
	}
	plan.Reasons = append(plan.Reasons, c.Config.Missing(ctx, k.Machine)...)
	if have != nil {
		c.Config.ForecastLoss(files.Attributes{Mode: have.Mode, Owner: have.Owner, Group: have.Group}, c.IsUnknown, plan)
	}
	return plan, nil
}

// Write fetches the file, unless only its owner or its mode is another. What has not the checksum
// is never at the path.
func (k Download) Write(ctx context.Context, c *downloadCall) error {
	have, err := k.Read(ctx, c)
	if err != nil {
		return err
	}
	change, unlock, err := lock(ctx, k.Machine, c.Config.Path, c.Config.Attributes)
	if err != nil {
		return err
	}
	defer unlock()
	if have == nil || have.SHA256 != c.Config.SHA256 {
		from, err := fetch(ctx, c.Config.URL)
		if err != nil {
			return err
		}
		defer func() { _ = from.Close() }()
		change.Content = verify(from, c.Config.URL, c.Config.SHA256)
	}
	return replace.File(ctx, k.Machine, c.Config.Path, change)
}

// Delete removes the file.
func (k Download) Delete(ctx context.Context, c *downloadCall) error {
	info, err := os.Lstat(k.Machine.Path(c.Config.Path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file any more, and is not removed", c.Config.Path)
	}
	unlock, err := replace.Lock(ctx, k.Machine, c.Config.Path)
	if err != nil {
		return err
	}
	defer unlock()
	return replace.Remove(k.Machine, c.Config.Path)
}

// Watch reports changes of the file.
func (k Download) Watch(ctx context.Context, c *downloadCall, tell func(detail string)) error {
	return files.Watch(ctx, k.Machine, c.Config.Path, tell)
}
