package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"deployster/machine/internal/access"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

// FileConfig is what a user writes about a file.
type FileConfig struct {
	Path    string  `json:"path" pattern:"^/" deployster:"identity"`
	Content *string `json:"content,omitempty"`
	Source  string  `json:"source,omitempty"`
	Attributes
	Validate []string `json:"validate,omitempty"`
	Backup   bool     `json:"backup,omitempty"`
	InPlace  bool     `json:"in_place,omitempty"`
	Follow   bool     `json:"follow,omitempty"`
	Guarded  *bool    `json:"guarded,omitempty"`

	Directory string `json:"directory,omitempty"` // of discovery, as Prefix
	Prefix    string `json:"prefix,omitempty"`
}

var fileDocs = attributeDocs(map[string]string{
	"path":    "The absolute path of the file.",
	"content": "The text of the file. Without content and source, the content is not managed, and a new file is empty.",
	"source": "A file of an artifact that has the content, in place of content: " +
		"a plug with its files, or a path below /plugs/NAME/. It may be binary.",
	"validate": "A command that checks new content before it is visible, as a list of words; %s stands for the path of the new file. " +
		"If it fails, the file is unchanged.",
	"backup": "Keep the file that is replaced as PATH.deployster-backup.",
	"in_place": "Write into the file instead of replacing it, as is needed where it is a mount of its own. " +
		"A reader may then see a half of it.",
	"follow": "Where the path is a link, manage the file to which it leads. Otherwise the link is replaced by the file.",
	"guarded": "Whether a change is undone unless the host can be reached again, where the host has undo_unless_reached. " +
		"By default for files below /etc/ssh, /etc/network, /etc/netplan and /etc/systemd/network.",
	"directory": "For discovery only: list the files in and below this directory.",
	"prefix":    "For discovery only: list the files whose path begins so.",
})

// FileState is what exists.
type FileState struct {
	Path string `json:"path" doc:"the path of the file"`
	had
	Link   string `json:"link,omitempty" doc:"where the link leads that is in place of the file"`
	SHA256 string `json:"sha256,omitempty" doc:"the checksum of the content, if it comes from source"`

	differs *protocol.Reason // how the content differs
}

type fileCall = protocol.Call[FileConfig, FileState]

// File is the kind of regular files.
type File struct{ Machine *access.Machine }

// NewFile returns the kind file.
func NewFile(m *access.Machine) protocol.Kind {
	return protocol.NewKind(File{m}, protocol.About{Label: "File", Kind: "linux/file", Worker: true, Unknowns: true, AutoEdges: edges(),
		PlugsIn: []string{"/source"}, Docs: fileDocs})
}

// check returns an error of the config, and where the file is when links are followed.
func (f File) check(c *fileCall) (path string, err error) {
	if err := f.Machine.CheckPath("/path", c.Config.Path); err != nil {
		return "", err
	}
	switch {
	case c.Config.Content != nil && c.Config.Source != "":
		return "", protocol.Errorf(protocol.ConfigError, "/source", "content and source exclude each other: give one of them")
	case c.Config.Follow:
		path, err = Followed(f.Machine, c.Config.Path)
	default:
		path = c.Config.Path
	}
	return path, errors.Join(err, replace.CheckValidate(c.Config.Validate))
}

// Read returns the file at the path, or nil.
func (f File) Read(ctx context.Context, c *fileCall) (*FileState, error) {
	path, err := f.check(c)
	if err != nil {
		return nil, err
	}
	info, err := lstat(f.Machine, path)
	if info == nil || err != nil {
		return nil, err
	}
	state := &FileState{Path: c.Config.Path, had: describe(ctx, f.Machine, info, c.Config.Attributes)}
	switch {
	case c.Intent == protocol.Absent && !info.Mode().IsRegular():
		return nil, nil // the file is gone, and what took its place is someone else's
	case info.Mode()&fs.ModeSymlink != 0:
		state.Link, err = os.Readlink(f.Machine.Path(path))
		return state, err
	case !info.Mode().IsRegular():
		return nil, protocol.Errorf(protocol.ConfigError, "/path",
			"%s is %s, and this resource is a file: remove it first, or choose another path", path, kindOf(info))
	}
	if c.Intent == protocol.Present {
		err = f.compare(c, path, info, state)
	}
	return state, err
}

// maxShown is the largest old content that a reason holds.
const maxShown = 64 << 10

// compare finds out how the content of a file differs from the config.
func (f File) compare(c *fileCall, path string, info fs.FileInfo, state *FileState) error {
	switch {
	case c.Config.Content != nil && !c.IsUnknown("/content"):
		want := *c.Config.Content
		if info.Size() > int64(max(len(want), maxShown)) {
			state.differs = textReason(nil, want, info.Size())
			return nil
		}
		have, err := os.ReadFile(f.Machine.Path(path))
		if err == nil && string(have) != want {
			state.differs = textReason(have, want, int64(len(have)))
		}
		return err
	case c.Config.Source != "" && !c.IsUnknown("/source"):
		want, err := sumOf(f.Machine.FromContainer(c.Config.Source))
		if err != nil {
			return sourceError(c, err)
		}
		if state.SHA256, err = sumOf(f.Machine.Path(path)); err == nil && state.SHA256 != want {
			state.differs = &protocol.Reason{Path: "/source", Message: "the content has sha256 " + state.SHA256 + ", and the source " +
				want}
		}
		return err
	}
	return nil
}

func textReason(have []byte, want string, size int64) *protocol.Reason {
	r := &protocol.Reason{Path: "/content"}
	r.Want, _ = json.Marshal(want)
	switch {
	case size > maxShown:
		r.Message = fmt.Sprintf("the file has %d bytes of other content", size)
	case !utf8.Valid(have):
		r.Message = fmt.Sprintf("the file has %d bytes that are not text", size)
	default:
		r.Have, _ = json.Marshal(string(have))
	}
	return r
}

func sumOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	return hex.EncodeToString(sum.Sum(nil)), err
}

func sourceError(c *fileCall, err error) error {
	return protocol.Errorf(protocol.ConfigError, "/source", "%s cannot be read: %s", c.Config.Source, err)
}

// Plan adds the content, the link and missing owners to what the fields decide.
func (f File) Plan(ctx context.Context, c *fileCall, have *FileState) (*protocol.Plan, error) {
	plan, err := c.DefaultPlan(have)
	if err != nil {
		return nil, err
	}
	var reasons []protocol.Reason
	switch {
	case have == nil:
	case have.Link != "":
		reasons = append(reasons, protocol.Reason{Path: "/path", Message: "it is a link to " + have.Link + ", and is replaced by the file"})
	case have.differs != nil:
		reasons = append(reasons, *have.differs)
	case c.IsUnknown("/content") || c.IsUnknown("/source"):
		reasons = append(reasons, protocol.Reason{Path: "/content", Message: "the content is known only after other actions"})
	}
	if plan == nil && len(reasons) == 0 {
		return nil, nil
	}
	if plan == nil {
		plan = &protocol.Plan{Actions: []protocol.Action{{Name: "update"}}}
	}
	plan.Reasons = slices.Concat(plan.Reasons, reasons, c.Config.missing(ctx, f.Machine))
	forecast, unknown := forecastOf(plan.Forecast), []string{}
	forecast["path"] = c.Config.Path
	switch {
	case have == nil:
	case have.Link != "":
		unknown = []string{"/link", "/mode", "/owner", "/group"}
	default:
		c.Config.forecastLoss(have.had, c.IsUnknown, plan, forecast)
	}
	if c.Config.Source != "" && !c.IsUnknown("/source") {
		if forecast["sha256"], err = sumOf(f.Machine.FromContainer(c.Config.Source)); err != nil {
			return nil, sourceError(c, err)
		}
	} else if have != nil && c.IsUnknown("/source") {
		unknown = append(unknown, "/sha256")
	}
	plan.Forecast, plan.Unknown = forecast, slices.Concat(plan.Unknown, unknown)
	return plan, nil
}

func forecastOf(of any) map[string]any {
	if known, ok := of.(map[string]any); ok {
		return known
	}
	return map[string]any{}
}

// Write makes the file what the config declares.
func (f File) Write(ctx context.Context, c *fileCall) error {
	path, err := f.check(c)
	if err != nil {
		return err
	}
	numbers, err := c.Config.resolve(ctx, f.Machine)
	if err != nil {
		return err
	}
	if err := parent(f.Machine, path); err != nil {
		return err
	}
	unlock, err := replace.Lock(ctx, f.Machine, path)
	if err != nil {
		return err
	}
	defer unlock()
	change := replace.Change{Mode: numbers.mode, UID: numbers.uid, GID: numbers.gid, InPlace: c.Config.InPlace, Backup: c.Config.Backup}
	info, err := lstat(f.Machine, path)
	if err != nil {
		return err
	}
	state := &FileState{}
	if info != nil && info.Mode().IsRegular() {
		if err := f.compare(c, path, info, state); err != nil {
			return err
		}
		if state.differs == nil { // only the owner or the mode
			return replace.File(ctx, f.Machine, path, change)
		}
	}
	change.Validate = replace.Validator(f.Machine, c.Config.Validate)
	switch {
	case c.Config.Content != nil:
		change.Content = bytes.NewReader([]byte(*c.Config.Content))
	case c.Config.Source != "":
		source, err := os.Open(f.Machine.FromContainer(c.Config.Source))
		if err != nil {
			return sourceError(c, err)
		}
		defer func() { _ = source.Close() }()
		change.Content = source
	default:
		change.Content = bytes.NewReader(nil)
	}
	return replace.File(ctx, f.Machine, path, change)
}

// Delete removes the file.
func (f File) Delete(ctx context.Context, c *fileCall) error {
	path, err := f.check(c)
	if err != nil {
		return err
	}
	info, err := lstat(f.Machine, path)
	switch {
	case info == nil || err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is %s, not a file, and is not removed", path, kindOf(info))
	}
	unlock, err := replace.Lock(ctx, f.Machine, path)
	if err != nil {
		return err
	}
	defer unlock()
	return replace.Remove(f.Machine, path)
}

// Watch reports changes of the file.
func (f File) Watch(ctx context.Context, c *fileCall, tell func(detail string)) error {
	if _, err := f.check(c); err != nil {
		return err
	}
	if c.Config.Follow {
		return WatchFollowed(ctx, f.Machine, c.Config.Path, tell)
	}
	return Watch(ctx, f.Machine, c.Config.Path, tell)
}

// Discover lists regular files.
func (f File) Discover(ctx context.Context, c *fileCall, tell func(FileConfig, string) error) error {
	return discover(ctx, f.Machine, c.Config.Directory, c.Config.Prefix, c.Log, func(path string, info fs.FileInfo) error {
		if !info.Mode().IsRegular() {
			return nil
		}
		had := describe(ctx, f.Machine, info, Attributes{})
		found := FileConfig{Path: path, Attributes: Attributes(had)}
		if info.Size() <= maxShown {
			if text, err := os.ReadFile(f.Machine.Path(path)); err == nil && utf8.Valid(text) {
				content := string(text)
				found.Content = &content
			}
		}
		return tell(found, filepath.Base(path))
	})
}
