package content

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

// ArchiveConfig is what a user writes about an archive that is unpacked.
type ArchiveConfig struct {
	Path    string `json:"path" pattern:"^/." deployster:"identity"`
	URL     string `json:"url,omitempty" pattern:"^https?://[^\\s]+$"`
	Source  string `json:"source,omitempty"`
	SHA256  string `json:"sha256" pattern:"^[0-9a-f]{64}$"`
	Strip   int    `json:"strip,omitempty" minimum:"0" maximum:"10"`
	MaxSize string `json:"max_size" default:"4G" pattern:"^[1-9][0-9]*[MG]$"`
	Owner   string `json:"owner,omitempty" minLength:"1" deployster:"computed"`
	Group   string `json:"group,omitempty" minLength:"1" deployster:"computed"`
}

var archiveDocs = map[string]string{
	"path": "The path of the link that leads to what is unpacked: PATH-CHECKSUM next to it.",
	"url":  "Where the archive is fetched: tar, also with gzip, bzip2, xz or zstd, or zip.",
	"source": "A file that is the archive, in place of url: " +
		"a plug with files of an artifact, a path below /plugs/NAME/, or else a path of the machine.",
	"sha256":   "The checksum of the archive, as 64 hexadecimal digits.",
	"strip":    "How many directories are left out at the beginning of each name.",
	"max_size": "How large it may be unpacked, such as 500M or 4G.",
	"owner":    "The user that owns all that is unpacked: a name or a number. Left out, root.",
	"group":    "The group that owns all that is unpacked: a name or a number. Left out, root.",
}

// ArchiveState is what exists.
type ArchiveState struct {
	SHA256 string `json:"sha256,omitempty" doc:"the checksum of the archive that is unpacked, at least its beginning"`
	Target string `json:"target" doc:"where the link leads"`
	Owner  string `json:"owner,omitempty" doc:"the user that owns what is unpacked"`
	Group  string `json:"group,omitempty" doc:"the group that owns what is unpacked"`

	changed, more []string
}

type archiveCall = protocol.Call[ArchiveConfig, ArchiveState]

// Archive is the kind of archives that are unpacked.
type Archive struct{ Machine *access.Machine }

// NewArchive returns the kind archive.
func NewArchive(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Archive{m}, protocol.About{Label: "Archive", Kind: "linux/archive", Worker: true, Unknowns: true,
		AutoEdges: files.Edges(), PlugsIn: []string{"/source"}, Docs: archiveDocs})
}

// shownSum is how many digits of a checksum are in the name of a directory.
const shownSum = 16

// version returns the directory of what is unpacked.
func (c ArchiveConfig) version() string { return c.Path + "-" + c.SHA256[:shownSum] }

func (k Archive) check(c *archiveCall) error {
	if c.Intent == protocol.Present && !c.IsUnknown("/url") && !c.IsUnknown("/source") && (c.Config.URL == "") == (c.Config.Source == "") {
		return protocol.Errorf(protocol.ConfigError, "/url", "give url or source, and not both")
	}
	return k.Machine.CheckPath("/path", c.Config.Path)
}

// Read returns what the link leads to, or nil.
func (k Archive) Read(ctx context.Context, c *archiveCall) (*ArchiveState, error) {
	if err := k.check(c); err != nil {
		return nil, err
	}
	info, err := os.Lstat(k.Machine.Path(c.Config.Path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if c.Intent == protocol.Absent && len(k.versions(c.Config.Path)) > 0 {
			return &ArchiveState{}, nil
		}
		return nil, nil
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink == 0 && c.Intent == protocol.Absent:
		return nil, nil
	case info.Mode()&fs.ModeSymlink == 0:
		return nil, protocol.Errorf(protocol.ConfigError, "/path",
			"%s is not a link, and is not replaced by one: move it away first", c.Config.Path)
	}
	s := &ArchiveState{}
	if s.Target, err = os.Readlink(k.Machine.Path(c.Config.Path)); err != nil {
		return nil, err
	}
	directory := filepath.Join(filepath.Dir(c.Config.Path), filepath.Base(s.Target))
	sum, ours := strings.CutPrefix(directory, c.Config.Path+"-")
	was, err := readRecord(k.Machine, directory)
	if err != nil {
		return nil, err
	}
	if !ours || filepath.Base(s.Target) != s.Target || len(sum) != shownSum || was == nil {
		return s, nil // it leads to something else
	}
	if s.SHA256 = sum; strings.HasPrefix(c.Config.SHA256, sum) {
		s.SHA256 = c.Config.SHA256
	}
	top, err := os.Stat(k.Machine.Path(directory))
	if errors.Is(err, fs.ErrNotExist) {
		s.changed = was.names()
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	had := files.Describe(ctx, k.Machine, top, files.Attributes{Owner: c.Config.Owner, Group: c.Config.Group})
	s.Owner, s.Group = had.Owner, had.Group
	now, err := recordOf(k.Machine.Path(directory))
	s.changed, s.more = was.changed(now)
	return s, err
}

// versions lists the directories of a link that have a record.
func (k Archive) versions(link string) (list []string) {
	names, err := filepath.Glob(k.Machine.Path(filepath.Dir(link)) + "/." + globQuoted(filepath.Base(link)) + "-*.deployster-tree")
	if err != nil {
		return nil
	}
	for _, name := range names {
		directory := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(name), "."), ".deployster-tree")
		if len(directory) == len(filepath.Base(link))+1+shownSum {
			list = append(list, filepath.Join(filepath.Dir(link), directory))
		}
	}
	return list
}

func globQuoted(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}

// Plan compares the version, and whether somebody has changed what was unpacked.
func (k Archive) Plan(ctx context.Context, c *archiveCall, have *ArchiveState) (*protocol.Plan, error) {
	plan, err := c.DefaultPlan(have)
	if err != nil {
		return nil, err
	}
	if have != nil && len(have.changed) > 0 && have.SHA256 == c.Config.SHA256 {
		if plan == nil {
			plan = &protocol.Plan{Actions: []protocol.Action{{Name: "update"}}}
		}
		plan.Reasons = append(plan.Reasons, protocol.Reason{Path: "/path",
			Message: "these were changed or removed, and all is unpacked again: " +
				some(have.changed)})
		if len(have.more) > 0 {
			plan.Actions[0].Destructive = true
			plan.Actions[0].Description = "Unpack it again, without what others put there: " + some(have.more)
		}
	}
	if plan == nil {
		return nil, nil
	}
	if have != nil && have.SHA256 == "" {
		plan.Reasons = append(plan.Reasons, protocol.Reason{Path: "/path", Message: "the link leads to " + have.Target +
			", and is switched"})
	}
	if have != nil && !c.IsUnknown("/sha256") {
		plan.Unknown = append(plan.Unknown, "/owner", "/group")
	}
	if c.IsUnknown("/sha256") {
		plan.Unknown = append(plan.Unknown, "/target", "/owner", "/group")
		return plan, nil
	}
	forecast, _ := plan.Forecast.(map[string]any)
	if forecast == nil {
		forecast = map[string]any{}
	}
	forecast["target"] = filepath.Base(c.Config.version())
	plan.Forecast = forecast
	plan.Reasons = append(plan.Reasons, files.Attributes{Owner: c.Config.Owner, Group: c.Config.Group}.Missing(ctx, k.Machine)...)
	return plan, nil
}

// Write unpacks the archive next to its place, and switches the link when that is complete.
func (k Archive) Write(ctx context.Context, c *archiveCall) error {
	have, err := k.Read(ctx, c)
	if err != nil {
		return err
	}
	owners, unlock, err := lock(ctx, k.Machine, c.Config.Path, files.Attributes{Owner: c.Config.Owner, Group: c.Config.Group})
	if err != nil {
		return err
	}
	defer unlock()
	former := ""
	if have != nil && have.SHA256 != "" {
		former = filepath.Join(filepath.Dir(c.Config.Path), have.Target)
	}
	if err := k.unpacked(ctx, c, owners); err != nil {
		return err
	}
	if err := replace.Link(k.Machine, c.Config.Path, filepath.Base(c.Config.version())); err != nil {
		return err
	}
	for _, old := range k.versions(c.Config.Path) { // a program may still run in the former one
		if old != former && old != c.Config.version() {
			if err := k.removeVersion(old); err != nil {
				return err
			}
		}
	}
	return nil
}

func (k Archive) removeVersion(directory string) error {
	return errors.Join(replace.RemoveAll(k.Machine, directory), replace.Remove(k.Machine, recordPath(directory)))
}

// PlanAbsence calls the removal destructive if others have put something there.
func (k Archive) PlanAbsence(_ context.Context, c *archiveCall, have *ArchiveState) (*protocol.Plan, error) {
	action := protocol.Action{Name: "delete", Description: "Remove the link, and what was unpacked"}
	if len(have.more) > 0 {
		action.Destructive, action.Description = true, action.Description+", with what others put there: "+some(have.more)
	}
	return &protocol.Plan{Actions: []protocol.Action{action}}, nil
}

// Delete removes the link and all versions.
func (k Archive) Delete(ctx context.Context, c *archiveCall) error {
	unlock, err := replace.Lock(ctx, k.Machine, c.Config.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unlock()
	if info, err := os.Lstat(k.Machine.Path(c.Config.Path)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if err := replace.Remove(k.Machine, c.Config.Path); err != nil {
			return err
		}
	}
	for _, directory := range k.versions(c.Config.Path) {
		if err := k.removeVersion(directory); err != nil {
			return err
		}
	}
	return nil
}

// Watch reports changes of the link.
func (k Archive) Watch(ctx context.Context, c *archiveCall, tell func(detail string)) error {
	return files.Watch(ctx, k.Machine, c.Config.Path, tell)
}
