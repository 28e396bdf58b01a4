package config

import (
	"github.com/hashicorp/hcl/v2"
)

// declTree is what the files declare: the blocks of the root manifest and of all
// modules, and the values of the root's variables.
type declTree struct {
	set        *sourceSet
	refs       *refIndex
	root       *moduleBlock
	modules    int // module blocks that were read
	statePath  string
	encryption *Encryption

	allowUnset bool              // variables without a value are unknown
	hasUnset   bool              // and there is one
	vars       map[string]known  // of the root
	origins    map[string]string // where their values come from; none: their defaults
}

func newDeclTree(set *sourceSet) *declTree {
	t := &declTree{set: set, refs: newRefIndex(set.bytesOf), vars: map[string]known{}, origins: map[string]string{}}
	t.root = t.newModuleBlock(nil, nil, set.src.Dir)
	return t
}

// load decodes the manifests and the modules that they call, and gives the
// variables their values. It reports whether to go on: where another version is
// required, whatever else is wrong may be because of it.
func (t *declTree) load(vars []VarInput) (diags hcl.Diagnostics, goOn bool) {
	bodies, diags := t.set.parse(t.set.src.Manifests)
	l, d := t.decode(t.root, bodies)
	diags = append(diags, d...)
	if d := t.checkVersion(l); len(d) > 0 {
		return d, false
	}
	diags = append(diags, t.loadModules(t.root)...)
	return append(diags, t.setVariables(vars)...), true
}
