package instance

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/values"
	"deployster/internal/base/diag"
	"deployster/internal/runner"
)

// Repetition says how a block makes instances.
type Repetition int

const (
	Once    Repetition = iota // neither for_each nor count
	ForEach                   // keys are text
	Counted                   // keys are 0, 1, 2...
)

// Expansion is what the for_each or count of one block came to, in one instance
// of the module that it stands in.
type Expansion struct {
	Repetition
	Mod *Module // where the block stands
	// Address is that of its instances, without their keys.
	Address string
	Expr    hcl.Expression
	// Pending: how many instances there are is known only with the states of
	// others. Invalid: it will not be known, and that has been said.
	Pending, Invalid bool
	// Learned: it was pending, and was given by Expand or by a plan.
	Learned bool
	Keys    []string // of for_each, sorted
	N       int      // instances
	// Values are what each.value is, as far as that is known without any state;
	// nil for sets and where nothing is known.
	Values map[string]cty.Value
	Set    bool // for_each is over a set: each.value is each.key
}

// Occurrence is one of the instances that a block stands for.
type Occurrence struct {
	Of *Expansion // nil: the block stands for itself alone
	I  int
}

// Key is what stands in the brackets of its address, as in a manifest.
func (o Occurrence) Key() string {
	if o.Of == nil {
		return ""
	}
	switch o.Of.Repetition {
	case ForEach:
		return "[" + values.QuoteKey(o.Of.Keys[o.I]) + "]"
	case Counted:
		return "[" + strconv.Itoa(o.I) + "]"
	}
	return ""
}

// Index finds a key, -1 if there is none.
func (x *Expansion) Index(key cty.Value) int {
	switch x.Repetition {
	case ForEach:
		if i, found := slices.BinarySearch(x.Keys, key.AsString()); found {
			return i
		}
	case Counted:
		if i, accuracy := key.AsBigFloat().Int64(); accuracy == 0 && i >= 0 && i < int64(x.N) {
			return int(i)
		}
	}
	return -1
}

// KeyName is the name of instance i as an attribute of an object: HCL finds the
// attribute "2" for the index 2.
func (x *Expansion) KeyName(i int) string {
	if x.Repetition == ForEach {
		return x.Keys[i]
	}
	return strconv.Itoa(i)
}

// Names lists the keys as they are written, for messages.
func (x *Expansion) Names() []string {
	out := make([]string, x.N)
	for i := range out {
		out[i] = Occurrence{x, i}.Key()
		out[i] = out[i][1 : len(out[i])-1]
	}
	return out
}

// Module is one instance of a module: the root manifest, or one of those that a
// module block stands for.
type Module struct {
	Decl    *decl.Module
	Caller  *Module // nil for the root
	At      Occurrence
	Address string // "" for the root, else `module.web["a"]`

	// What is known without any state.
	Vars   map[string]values.Sized
	Locals map[string]values.Sized

	Resources map[string]*ResourceSet
	Children  map[string]*ModuleSet
	Settings  map[*decl.Block]TypeSettings
}

// ResourceSet are the instances of one resource block.
type ResourceSet struct {
	Expansion
	List []Instance
}

// ModuleSet are the instances of one module block.
type ModuleSet struct {
	Expansion
	List []*Module
}

// Instance is one resource.
type Instance struct {
	Resource
	Decl    *decl.Resource
	Mod     *Module
	At      Occurrence
	ByAlias map[string]*Instance // what its aliases stand for; an alias whose block names none is left out
}

// Scope is where an expression is evaluated: what each, count, dep, var and local
// mean there.
type Scope struct {
	Mod *Module
	At  Occurrence
	Res *Instance // whose dependencies dep.ALIAS are; nil outside a resource
}

// Scope is where the expressions of a module stand that are in no resource.
func (m *Module) Scope() Scope { return Scope{Mod: m} }

// Scope is where the expressions of a resource stand.
func (i *Instance) Scope() Scope { return Scope{i.Mod, i.At, i} }

// Inputs is where the module block stands, with the values for its variables.
func (m *Module) Inputs() Scope { return Scope{Mod: m.Caller, At: m.At} } // where the module block stands

// Scope is where for_each and count stand.
func (x *Expansion) Scope() Scope { return Scope{Mod: x.Mod} }

// Join is the address of a thing in the module.
func (m *Module) Join(what string) string {
	if m.Address == "" {
		return what
	}
	return m.Address + "." + what
}

// Owner is the one whose each and count may be used at a site, nil if none.
func (s Scope) Owner() *decl.Block {
	if s.Res != nil {
		return &s.Res.Decl.Block
	}
	return nil
}

// NewModule makes an instance of a module, with nothing in it yet.
func NewModule(b *decl.Module, caller *Module, at Occurrence, address string) *Module {
	return &Module{Decl: b, Caller: caller, At: at, Address: address, Vars: map[string]values.Sized{}, Locals: map[string]values.Sized{},
		Resources: make(map[string]*ResourceSet, len(b.Resources)), Children: map[string]*ModuleSet{}, Settings: map[*decl.Block]TypeSettings{}}
}

// Each visits a module and all that it calls, callers first.
func (m *Module) Each(f func(*Module)) {
	f(m)
	for _, name := range slices.Sorted(maps.Keys(m.Children)) {
		for _, child := range m.Children[name].List {
			child.Each(f)
		}
	}
}

// TypeSettings are how the containers of a type are run.
type TypeSettings struct {
	runner.Settings
	Image    string
	Pull     runner.PullPolicy
	Verify   *runner.Verify
	Timeouts Timeouts // for resources that set none themselves
	Watch    Watch    // the same
}

// Type is a declared type.
type Type struct {
	Name string
	TypeSettings
	Defaults Resolved   // of the configs of its resources; without a Value there are none
	Range    diag.Range // of the block
}

// String says which evaluation of an expression a site stands for.
func (s Scope) String() string {
	text := ""
	if s.Mod != nil {
		text = s.Mod.Address
	}
	if s.Res != nil {
		text += " " + s.Res.Address
	}
	return text + fmt.Sprint(" ", s.At.Key())
}
