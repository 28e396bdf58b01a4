package decl

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/refs"
	"deployster/config/source"
	"deployster/config/variables"
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

	Vars *variables.Values // of the root
}

// New returns a tree with an empty root, before anything is loaded.
func New(set *source.Set) *Tree {
	t := &Tree{Set: set, Refs: refs.NewIndex(set.BytesOf), Vars: variables.New()}
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
	for _, v := range t.Root.Variables {
		t.Vars.Declare(&v.Spec)
	}
	t.consts = t.Vars.Consts(vars)
	diags = append(diags, t.loadModules(t.Root)...)
	t.Set.Release()
	for _, in := range vars {
		if in.Src != nil {
			t.Set.Text[in.At.Filename] = in.Src
		}
	}
	return append(diags, t.Vars.Set(vars)...), true
}
