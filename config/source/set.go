package source

import (
	"maps"
	"os"

	"github.com/hashicorp/hcl/v2"

	"deployster/internal/base/parallel"
)

// Set holds the sources of a manifest: its parsed files, those of its modules, and
// what its expressions read.
type Set struct {
	Src      Sources
	Builtins Builtins
	Reads    *Reader
	Pool     *parallel.Pool
	files    map[string]*hcl.File
	bodies   map[string][]hcl.Body // the parsed modules, by directory, until Release
	Broken   map[string]bool       // files with syntax errors
	size     int                   // bytes in all manifests
	Text     map[string][]byte     // the text of files that did not parse, and of variable files
}

// New returns a set of sources; nothing is parsed yet.
func New(src Sources, b Builtins) *Set {
	if b.Workspace == "" {
		b.Workspace = src.Workspace
	}
	if b.Home == "" {
		b.Home, _ = os.UserHomeDir() // checked where ~ is used
	}
	s := &Set{Src: src, Builtins: b, Reads: newReader(src), Pool: &parallel.Pool{}, files: map[string]*hcl.File{},
		bodies: map[string][]hcl.Body{}, Broken: map[string]bool{}, Text: map[string][]byte{}}
	s.Src.Modules = maps.Clone(src.Modules)
	if s.Src.Modules == nil {
		s.Src.Modules = map[string][]File{}
	}
	return s
}

// Release drops the parsed modules, whose blocks have been decoded.
func (s *Set) Release() { clear(s.bodies) }

// NewText returns a set with one text, for diagnostics in it.
func NewText(name string, src []byte) *Set {
	s := New(Sources{}, Builtins{})
	s.Text[name] = src
	return s
}

// Sources returns what the set was created from, with the modules and everything that
// file() and similar functions have read so far.
func (s *Set) Sources() Sources {
	out := s.Src
	out.Reads, out.Lists = s.Reads.all()
	out.Home = s.home()
	return out
}
