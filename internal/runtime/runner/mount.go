package runner

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// NoSourceError reports that the source of a mount does not exist, or cannot be reached.
type NoSourceError struct {
	Target string // in the container
	Source string
	Err    error
}

func (e *NoSourceError) Error() string { return e.Source + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *NoSourceError) Unwrap() error { return e.Err }

// Files are files of an artifact that a mount shows on another machine. They are sent
// to that machine before it runs the container.
type Files struct {
	Dir  string // absolute, on this machine; held as long as it is needed
	Key  string
	Name string // of the artifact, for people
	Tree string // hash over all files and their contents
}

// RealDir returns the path of a directory without symbolic links, or dir unchanged if
// its links cannot be followed.
func RealDir(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// In returns the mount with an absolute source; a relative source begins at dir, whose
// path has no symbolic links. A source that names files of an artifact is not relative
// to a directory, and stays.
func (m Mount) In(dir string) Mount {
	if m.Content == "" && !filepath.IsAbs(m.Source) && !strings.HasPrefix(m.Source, "artifact:") {
		m.Source = filepath.Join(dir, m.Source)
	}
	return m
}

// MountsIn calls Mount.In for each mount of a list.
func MountsIn(dir string, mounts []Mount) []Mount {
	var out []Mount
	for _, m := range mounts {
		out = append(out, m.In(dir))
	}
	return out
}

// ErrReplaced reports that the source of a mount of a running program is another file now, or does
// not exist any more: the program still sees the old file, which nobody else sees.
var ErrReplaced = errors.New("a plug of it was replaced")

// Sources are the files and directories of this machine that are mounted for a program.
type Sources map[string]os.FileInfo

// SourcesOf returns the sources of mounts as they are now. The caller calls it before the mounts
// are made, so that a replacement meanwhile is noticed.
func SourcesOf(mounts []Mount) Sources {
	found := Sources{}
	for _, m := range mounts {
		if info, err := os.Stat(m.Source); err == nil { // otherwise the program cannot be started, with the reason
			found[m.Source] = info
		}
	}
	return found
}

// Replaced reports whether one of the sources is another file now, or does not exist any more.
func (s Sources) Replaced() bool {
	for source, was := range s {
		if is, err := os.Stat(source); errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(was, is) {
			return true
		}
	}
	return false
}

// SourcesEvery is how often the Sources of a running program are compared.
const SourcesEvery = time.Second
