package config

import (
	"maps"
	"os"

	"github.com/hashicorp/hcl/v2"

	"deployster/internal/base/parallel"
)

// sourceSet is what a manifest is read from: its files, parsed, those of its
// modules, and what its expressions read.
type sourceSet struct {
	src      Sources
	builtins Builtins
	reads    *reader
	pool     *parallel.Pool
	files    map[string]*hcl.File
	bodies   map[string][]hcl.Body // of modules, by directory
	broken   map[string]bool       // files with mistakes in their syntax
	size     int                   // bytes in all manifests
	text     map[string][]byte     // of files that did not parse, and of variable files
}

func newSourceSet(src Sources, b Builtins) *sourceSet {
	if b.Workspace == "" {
		b.Workspace = src.Workspace
	}
	if b.Home == "" {
		b.Home, _ = os.UserHomeDir() // checked where ~ is used
	}
	s := &sourceSet{src: src, builtins: b, reads: newReader(src), pool: &parallel.Pool{}, files: map[string]*hcl.File{},
		bodies: map[string][]hcl.Body{}, broken: map[string]bool{}, text: map[string][]byte{}}
	s.src.Modules = maps.Clone(src.Modules)
	if s.src.Modules == nil {
		s.src.Modules = map[string][]File{}
	}
	return s
}

// newText is the set of one text, for diagnostics about it.
func newText(name string, src []byte) *sourceSet {
	s := newSourceSet(Sources{}, Builtins{})
	s.text[name] = src
	return s
}

// sources returns what the set was made from, with the modules and all that
// file() and friends have read so far.
func (s *sourceSet) sources() Sources {
	out := s.src
	out.Reads, out.Lists = s.reads.all()
	out.Home = s.home()
	return out
}
