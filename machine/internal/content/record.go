package content

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deployster/machine/internal/access"
	"deployster/machine/internal/replace"
)

// record is what a resource has put into a directory: what it knows of each name when it was
// written. It is a file next to the directory, so that files of others are distinguished.
type record map[string]string

// recordPath returns where the record of a directory is.
func recordPath(directory string) string {
	return filepath.Join(filepath.Dir(directory), "."+filepath.Base(directory)+".deployster-tree")
}

func readRecord(m *access.Machine, directory string) (record, error) {
	text, err := os.ReadFile(m.Path(recordPath(directory)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := record{}
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w: remove it, and apply again", recordPath(directory), err)
	}
	return r, nil
}

func (r record) write(ctx context.Context, m *access.Machine, directory string) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	mode := uint32(0o600)
	return replace.File(ctx, m, recordPath(directory), replace.Change{Content: strings.NewReader(string(text) + "\n"), Mode: &mode})
}

// seen describes a file or a link without reading it: enough to notice that somebody changed it.
func seen(info fs.FileInfo, real string) string {
	if info.Mode()&fs.ModeSymlink != 0 {
		target, _ := os.Readlink(real)
		return "link " + target
	}
	return fmt.Sprintf("%s %d %d", info.Mode(), info.Size(), info.ModTime().UnixNano())
}

// recordOf describes what is in a directory, but for directories.
func recordOf(real string) (record, error) {
	r := record{}
	err := filepath.WalkDir(real, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(real, path)
		r[name] = seen(info, path)
		return err
	})
	return r, err
}

// changed lists the names that are missing or are not as the record has them; more lists those
// that it does not have.
func (r record) changed(now record) (changed, more []string) {
	for name, was := range r {
		if now[name] != was {
			changed = append(changed, name)
		}
	}
	for name := range now {
		if _, ours := r[name]; !ours {
			more = append(more, name)
		}
	}
	slices.Sort(changed)
	slices.Sort(more)
	return changed, more
}

// directoryEntry is what a record has of a directory, whose name ends with a slash.
const directoryEntry = "directory"

// directories returns the directories of a record.
func (r record) directories() record {
	list := record{}
	for name, what := range r {
		if what == directoryEntry {
			list[name] = what
		}
	}
	return list
}

// leaves returns the names of the files and links of a record.
func (r record) leaves() (names []string) {
	for _, name := range r.names() {
		if r[name] != directoryEntry {
			names = append(names, name)
		}
	}
	return names
}

func (r record) names() []string { return slices.Sorted(maps.Keys(r)) }

// shownNames is how many names a text has.
const shownNames = 5

// some names a few, and how many more there are.
func some(names []string) string {
	text := strings.Join(names[:min(len(names), shownNames)], ", ")
	if more := len(names) - shownNames; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
