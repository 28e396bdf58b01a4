package content

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

// TreeConfig is what a user writes about a directory with all that it holds.
type TreeConfig struct {
	Path   string `json:"path" pattern:"^/." deployster:"identity"`
	Source string `json:"source" minLength:"1"`
	Delete bool   `json:"delete,omitempty"`
	Mode   string `json:"mode,omitempty" pattern:"^0[0-7]{3}$" deployster:"computed"`
	Owner  string `json:"owner,omitempty" minLength:"1" deployster:"computed"`
	Group  string `json:"group,omitempty" minLength:"1" deployster:"computed"`
}

var treeDocs = map[string]string{
	"path":   "The absolute path of the directory.",
	"source": "A directory that has the files: a plug with files of an artifact, a path below /plugs/NAME/, or else a path of the machine.",
	"delete": "Whether the directory has nothing else: what others put there is removed, which the plan calls destructive.",
	"mode": "The permissions of the files as four octal digits, such as 0640. Programs and directories can also be executed and " +
		"entered by whom they let read. Left out, new files have 0644, and programs 0755.",
	"owner": "The user that owns all of it: a name or a number. Left out, the owner is not managed.",
	"group": "The group that owns all of it: a name or a number. Left out, the group is not managed.",
}

// TreeState is what exists.
type TreeState struct {
	SHA256 string `json:"sha256" doc:"a checksum of the names, the contents and the executable bits of what came from the source"`
	Files  int    `json:"files" doc:"how many files and links came from the source"`

	differ []string // as a person reads them
	stale  []string // that came from an earlier source
	more   []string // of others
	there  bool
}

type treeCall = protocol.Call[TreeConfig, TreeState]

// Tree is the kind of directories with all that they hold.
type Tree struct{ Machine *access.Machine }

// NewTree returns the kind tree.
func NewTree(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Tree{m}, protocol.About{Label: "Tree of files", Kind: "linux/tree", Worker: true, Unknowns: true,
		AutoEdges: files.Edges(), PlugsIn: []string{"/source"}, Docs: treeDocs})
}

// leaf is a file or a link of a tree.
type leaf struct {
	sum        string // of a file
	link       string // the target of a link
	other      string // what it is, if it is neither a file nor a link
	executable bool
}

func (l leaf) text(name string) string {
	return fmt.Sprintf("%q %s %q %v\n", name, l.sum, l.link, l.executable)
}

// tree is a directory: its leaves by their names, and its directories.
type tree struct {
	leaves      map[string]leaf
	directories []string
}

func (t tree) sum() string {
	sum := sha256.New()
	names := make([]string, 0, len(t.leaves))
	for name := range t.leaves {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		sum.Write([]byte(t.leaves[name].text(name)))
	}
	for _, name := range t.directories {
		sum.Write([]byte(name + "/\n"))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// readTree reads a directory; of one that is wanted, only the names in it.
func readTree(real string, only *tree) (tree, error) {
	t := tree{leaves: map[string]leaf{}}
	err := filepath.WalkDir(real, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == real {
			return err
		}
		name, err := filepath.Rel(real, path)
		if err != nil || replace.Temporary(entry.Name()) {
			return err
		}
		if entry.IsDir() {
			if only == nil || slices.Contains(only.directories, name) {
				t.directories = append(t.directories, name)
			}
			return nil
		}
		if only != nil {
			if _, wanted := only.leaves[name]; !wanted {
				t.leaves[name] = leaf{}
				return nil
			}
		}
		t.leaves[name], err = readLeaf(path, entry)
		return err
	})
	slices.Sort(t.directories)
	return t, err
}

func readLeaf(path string, entry fs.DirEntry) (l leaf, err error) {
	info, err := entry.Info()
	switch {
	case err != nil:
		return l, err
	case info.Mode()&fs.ModeSymlink != 0:
		l.link, err = os.Readlink(path)
		return l, err
	case !info.Mode().IsRegular():
		l.other = info.Mode().Type().String()
		return l, nil
	}
	l.executable = info.Mode()&0o100 != 0
	l.sum, err = sumOf(path)
	return l, err
}

// errMissing is the error of a source that does not exist.
var errMissing = errors.New("does not exist: depend on the resource that makes it")

func (k Tree) source(c *treeCall) (tree, error) {
	t, err := readTree(located(k.Machine, c.Config.Source), nil)
	if errors.Is(err, fs.ErrNotExist) {
		return t, fmt.Errorf("%s %w", c.Config.Source, errMissing)
	}
	if err != nil {
		return t, protocol.Errorf(protocol.ConfigError, "/source", "%s cannot be read: %s", c.Config.Source, err)
	}
	for name, l := range t.leaves {
		if l.other != "" {
			return t, protocol.Errorf(protocol.ConfigError, "/source", "%s in %s is neither a file nor a link", name, c.Config.Source)
		}
	}
	return t, nil
}

// Read compares the directory with the source; nil if it does not exist.
func (k Tree) Read(ctx context.Context, c *treeCall) (*TreeState, error) {
	if err := k.Machine.CheckPath("/path", c.Config.Path); err != nil {
		return nil, err
	}
	was, err := readRecord(k.Machine, c.Config.Path)
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(k.Machine.Path(c.Config.Path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.IsDir() && c.Intent == protocol.Absent:
		return nil, nil
	case !info.IsDir():
		return nil, protocol.Errorf(protocol.ConfigError, "/path",
			"%s is not a directory: remove it first, or choose another path", c.Config.Path)
	}
	if c.Intent == protocol.Absent {
		return k.absent(c, was)
	}
	s := &TreeState{there: true}
	if c.IsUnknown("/source") {
		return s, nil
	}
	want, err := k.source(c)
	if errors.Is(err, errMissing) {
		return s, nil // the plan reports it
	}
	if err != nil {
		return nil, err
	}
	have, err := readTree(k.Machine.Path(c.Config.Path), &want)
	if err != nil {
		return nil, err
	}
	own := tree{leaves: map[string]leaf{}, directories: have.directories}
	for name, l := range have.leaves {
		_, wanted := want.leaves[name]
		_, ours := was[name]
		switch {
		case wanted:
			own.leaves[name] = l
		case ours:
			s.stale = append(s.stale, name)
		default:
			s.more = append(s.more, name)
		}
	}
	for name, l := range want.leaves {
		if own.leaves[name] != l {
			s.differ = append(s.differ, name)
		}
	}
	for _, name := range want.directories {
		if !slices.Contains(own.directories, name) {
			s.differ = append(s.differ, name+"/")
		}
	}
	for _, list := range [][]string{s.differ, s.stale, s.more} {
		slices.Sort(list)
	}
	if i := slices.IndexFunc(s.more, want.displaces); i >= 0 && !c.Config.Delete {
		return nil, protocol.Errorf(protocol.ConfigError, "/path", "%s came from others, and the source has something else in its place: "+
			"remove it first, or have it removed by `delete = true`", filepath.Join(c.Config.Path, s.more[i]))
	}
	s.SHA256, s.Files = own.sum(), len(own.leaves)
	return s, k.attributes(ctx, c, want, s)
}

// absent returns what a removal finds: what came from a source, and what others put there.
func (k Tree) absent(c *treeCall, was record) (*TreeState, error) {
	have, err := recordOf(k.Machine.Path(c.Config.Path))
	if err != nil {
		return nil, err
	}
	s := &TreeState{there: true}
	_, s.more = was.changed(have)
	if s.Files = len(have) - len(s.more); was == nil && (!c.Config.Delete || c.LastState == nil) {
		return nil, nil // it came from nobody
	}
	return s, nil
}

// attributes adds the names whose owner or mode is another.
func (k Tree) attributes(ctx context.Context, c *treeCall, want tree, s *TreeState) error {
	if c.Config.Mode == "" && c.Config.Owner == "" && c.Config.Group == "" {
		return nil
	}
	check := func(name string, directory, executable bool) error {
		info, err := os.Lstat(filepath.Join(k.Machine.Path(c.Config.Path), name))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		wish := files.Attributes{Mode: modeOf(c.Config.Mode, directory || executable), Owner: c.Config.Owner, Group: c.Config.Group}
		had := files.Describe(ctx, k.Machine, info, wish)
		link := info.Mode()&fs.ModeSymlink != 0
		if wish.Mode != "" && !link && had.Mode != wish.Mode || wish.Owner != "" && had.Owner != wish.Owner ||
			wish.Group != "" && had.Group != wish.Group {
			if !slices.Contains(s.differ, name) {
				s.differ = append(s.differ, name)
			}
		}
		return nil
	}
	errs := []error{check(".", true, false)}
	for _, name := range want.directories {
		errs = append(errs, check(name, true, false))
	}
	for name, l := range want.leaves {
		errs = append(errs, check(name, false, l.executable))
	}
	slices.Sort(s.differ)
	return errors.Join(errs...)
}

// modeOf returns a mode with the right to execute for whom it lets read; "" = not managed.
func modeOf(mode string, executable bool) string {
	if mode == "" || !executable {
		return mode
	}
	digits := []byte(mode)
	for i := 1; i < len(digits); i++ {
		if digits[i] >= '4' {
			digits[i] |= 1
		}
	}
	return string(digits)
}

// Plan names what differs, and calls the removal of what others put there destructive.
func (k Tree) Plan(ctx context.Context, c *treeCall, have *TreeState) (*protocol.Plan, error) {
	missing := files.Attributes{Owner: c.Config.Owner, Group: c.Config.Group}.Missing(ctx, k.Machine)
	plan := &protocol.Plan{Actions: []protocol.Action{{Name: "update"}}, Reasons: missing}
	want, err := tree{}, error(nil)
	later := c.IsUnknown("/source")
	if !later {
		if want, err = k.source(c); errors.Is(err, errMissing) {
			later, missing = true, append(missing, protocol.Reason{Path: "/source", Message: c.Config.Source + " does not exist yet"})
			plan.Reasons = missing
		} else if err != nil {
			return nil, err
		}
	}
	if later {
		if c.IsUnknown("/source") {
			plan.Reasons = append(plan.Reasons, protocol.Reason{Path: "/source", Message: "known only after other actions"})
		}
		plan.Unknown = []string{"/sha256", "/files"}
		if have == nil {
			plan.Actions[0].Name, plan.Reasons = "create", missing
		}
		return plan, nil
	}
	plan.Forecast = map[string]any{"sha256": want.sum(), "files": len(want.leaves)}
	if have == nil {
		plan.Actions[0].Name = "create"
		return plan, nil
	}
	because := func(path, text string, names []string) {
		if len(names) > 0 {
			plan.Reasons = append(plan.Reasons, protocol.Reason{Path: path, Message: text + some(names)})
		}
	}
	because("/source", "these are missing or not as the source has them: ", have.differ)
	because("/source", "these came from an earlier source, and are removed: ", have.stale)
	if c.Config.Delete && len(have.more) > 0 {
		because("/delete", "these came from others: ", have.more)
		plan.Actions[0].Destructive, plan.Actions[0].Description = true, "Remove what others put there too: "+some(have.more)
	}
	if len(plan.Reasons) == len(missing) {
		return nil, nil
	}
	return plan, nil
}
