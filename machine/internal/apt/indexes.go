package apt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"deployster/machine/internal/access"
)

const (
	listsDir   = "/var/lib/apt/lists"
	stampFile  = "/var/lib/apt/periodic/update-success-stamp" // others touch it too, after an update
	sourcesDir = "/etc/apt/sources.list.d"
	sourceList = "/etc/apt/sources.list"
)

// indexes report how old the package indexes of a machine are.
type indexes struct {
	at time.Time // of the last update; zero = there are none
}

func (i indexes) String() string {
	if i.at.IsZero() {
		return "there are no package indexes yet"
	}
	return "the package indexes are from " + i.at.UTC().Format(time.DateTime) + " UTC"
}

// older reports whether the indexes are older than a duration. Those of the future are: the
// clock was wrong then.
func (i indexes) older(than time.Duration) bool {
	age := time.Since(i.at)
	return i.at.IsZero() || age >= than || age < -time.Minute
}

// readIndexes finds out when the indexes were last updated. A source that was changed since then
// counts as no update at all.
func readIndexes(m *access.Machine) (indexes, error) {
	lists, err := filepath.Glob(m.Path(listsDir + "/*_Packages*"))
	if err != nil || len(lists) == 0 {
		return indexes{}, err
	}
	at, err := modified(m, stampFile)
	if err == nil && at.IsZero() {
		at, err = modified(m, listsDir)
	}
	if err != nil {
		return indexes{}, err
	}
	for _, path := range []string{sourceList, sourcesDir} {
		changed, err := modified(m, path)
		if err != nil {
			return indexes{}, err
		}
		if changed.After(at) {
			return indexes{}, nil
		}
	}
	return indexes{at}, nil
}

// modified returns when a path was modified; zero = it does not exist.
func modified(m *access.Machine, path string) (time.Time, error) {
	info, err := os.Stat(m.Path(path))
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// update updates the indexes if they are older than a duration.
func update(ctx context.Context, m *access.Machine, log io.Writer, valid time.Duration) error {
	now, err := readIndexes(m)
	if err != nil || !now.older(valid) {
		return err
	}
	begin := time.Now()
	if err := aptGet(ctx, m, log, "update"); err != nil {
		return fmt.Errorf("the package indexes cannot be updated: %w", err)
	}
	return stamp(m, begin)
}

// stamp records when the indexes were updated.
func stamp(m *access.Machine, at time.Time) error {
	path := m.Path(stampFile)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Chtimes(path, at, at))
}

// repositories returns the URIs of a source that apt_source manages; ok is false if the machine
// does not have it.
func repositories(m *access.Machine, name string) (uris []string, ok bool, err error) {
	text, err := os.ReadFile(m.Path(sourcePath(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	for line := range strings.Lines(string(text)) {
		if value, is := strings.CutPrefix(line, "URIs:"); is {
			uris = append(uris, strings.Fields(value)...)
		}
	}
	return uris, true, nil
}

func sourcePath(name string) string { return sourcesDir + "/" + name + ".sources" }
