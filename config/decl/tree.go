package decl

import (
	"github.com/hashicorp/hcl/v2"

	"deployster/config/refs"
	"deployster/config/source"
	"deployster/config/values"
)

// Tree is what the files declare: the blocks of the root manifest and of all
// modules, and the values of the root's variables.
type Tree struct {
	Set        *source.Set
	Refs       *refs.Index
	Root       *Module
	modules    int // module blocks that were read
	StatePath  string
	AutoEdges  bool // types may say what their resources come after
	New        bool // unless they say otherwise, resources must not exist before they are made
	Encryption *Encryption

	AllowUnset   bool                    // variables without a value are unknown
	HasUnsetVars bool                    // and there is one
	Vars         map[string]values.Sized // of the root
	Origins      map[string]string       // where their values come from; none: their defaults
}

// New makes a tree of nothing but the root, before anything is loaded.
func New(set *source.Set) *Tree {
	t := &Tree{Set: set, Refs: refs.NewIndex(set.BytesOf), Vars: map[string]values.Sized{}, Origins: map[string]string{}}
	t.Root = t.newModuleBlock(nil, nil, set.Src.Dir)
	return t
}

// Load decodes the manifests and the modules that they call, and gives the
// variables their values. It reports whether to go on: where another version is
// required, whatever else is wrong may be because of it.
func (t *Tree) Load(vars []source.VarInput) (diags hcl.Diagnostics, goOn bool) {
	bodies, diags := t.Set.Parse(t.Set.Src.Manifests)
	l, d := t.decode(t.Root, bodies)
	diags = append(diags, d...)
	if d := t.checkVersion(l); len(d) > 0 {
		return d, false
	}
	diags = append(diags, t.loadModules(t.Root)...)
	return append(diags, t.setVariables(vars)...), true
}
