package decl

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/refs"
	"deployster/config/source"
	"deployster/config/values"
)

// Tree holds the blocks of the root manifest and of all modules, and the values of
// the root's variables.
type Tree struct {
	Set        *source.Set
	Refs       *refs.Index
	Root       *Module
	modules    int                  // the number of module blocks read so far
	consts     map[string]cty.Value // the values of the constants, before any module is read
	StatePath  string
	StateAt    hcl.Range // of StatePath
	AutoEdges  bool      // types may declare automatic dependencies
	New        bool      // default for resources: the object must not exist before it is created
	Encryption *Encryption
	Exports    *Exports // nil = outputs are encrypted as the state is

	AllowUnset   bool                    // a variable without a value is unknown
	HasUnsetVars bool                    // there is such a variable
	Vars         map[string]values.Sized // of the root
	Origins      map[string]string       // where their values come from; no entry for defaults
}

// New returns a tree with an empty root, before anything is loaded.
func New(set *source.Set) *Tree {
	t := &Tree{Set: set, Refs: refs.NewIndex(set.BytesOf), Vars: map[string]values.Sized{}, Origins: map[string]string{}}
	t.Root = t.newModuleBlock(nil, nil, set.Src.Dir)
	return t
}

// Load decodes the manifests and the modules that they call, and sets the values of
// the variables. goOn is false if the manifest requires another version of
// deployster: other errors may only follow from that.
func (t *Tree) Load(vars []source.VarInput) (diags hcl.Diagnostics, goOn bool) {
	bodies, diags := t.Set.Parse(t.Set.Src.Manifests)
	l, d := t.decode(t.Root, bodies)
	diags = append(diags, d...)
	if d := t.checkVersion(l); len(d) > 0 {
		return d, false
	}
	t.consts = t.Consts(vars)
	diags = append(diags, t.loadModules(t.Root)...)
	t.Set.Release()
	return append(diags, t.setVariables(vars)...), true
}
