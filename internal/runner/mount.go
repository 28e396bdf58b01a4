package runner

import (
	"path/filepath"
	"strings"
)

// NoSourceError says that what is to be mounted does not exist, or cannot be reached.
type NoSourceError struct {
	Target string // in the container
	Source string
	Err    error
}

func (e *NoSourceError) Error() string { return e.Source + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *NoSourceError) Unwrap() error { return e.Err }

// Files are those of an artifact that a mount shows on another machine, which is sent
// them before it runs anything.
type Files struct {
	Dir  string // where they are here; absolute, and held as long as they are needed
	Key  string
	Name string // of the artifact, for people
	Tree string // hash over everything in it
}

// RealDir returns a directory without symbolic links on the way to it, or as it is
// written where that is not known.
func RealDir(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// In returns the mount as it is for who works in a directory: with an absolute
// source. dir has no symbolic links on its way. The files of an artifact are in no
// directory that it could be relative to, and stay as they are.
func (m Mount) In(dir string) Mount {
	if !filepath.IsAbs(m.Source) && !strings.HasPrefix(m.Source, "artifact:") {
		m.Source = filepath.Join(dir, m.Source)
	}
	return m
}

// MountsIn is Mount.In for a list.
func MountsIn(dir string, mounts []Mount) []Mount {
	var out []Mount
	for _, m := range mounts {
		out = append(out, m.In(dir))
	}
	return out
}
