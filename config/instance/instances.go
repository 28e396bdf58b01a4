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
	"deployster/internal/runtime/runner"
)

// Repetition is how a block repeats.
type Repetition int

const (
	Once     Repetition = iota // neither for_each nor count nor enabled
	ForEach                    // keys are text
	Counted                    // keys are 0, 1, 2...
	Optional                   // enabled: one instance or none, without a key
)

// Single reports whether the block has one instance at most, which has no key.
func (r Repetition) Single() bool { return r == Once || r == Optional }

// Expansion is the result of the for_each, count or enabled of one block, in one instance of
// the module that contains the block.
type Expansion struct {
	Repetition
	Mod *Module // the module instance that contains the block
	// Address is the address of its instances, without their keys.
	Address string
	Expr    hcl.Expression
	// Pending: the instances are known only with the states of other resources.
	// Invalid: they will stay unknown because of an error, which is already reported.
	Pending, Invalid bool
	// Learned: it was pending, and Expand or a plan determined it.
	Learned bool
	Keys    []string // of for_each, sorted
	N       int      // instances
	// Values holds each.value by key, as far as it is known without states; nil for
	// sets and where nothing is known.
	Values map[string]cty.Value
	Set    bool // for_each is over a set: each.value is each.key
}

// Occurrence is one instance of a block.
type Occurrence struct {
	Of *Expansion // nil: the block does not repeat
	I  int
}

// Key returns the instance key with its brackets, as in an address; "" if it has none.
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

// Index returns the index of a key, -1 if there is none.
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

// KeyName returns the name of instance i as an attribute of an object: HCL finds the
// attribute "2" for the index 2.
func (x *Expansion) KeyName(i int) string {
	if x.Repetition == ForEach {
		return x.Keys[i]
	}
	return strconv.Itoa(i)
}

// Names returns the keys as a manifest has them, for messages.
func (x *Expansion) Names() []string {
	out := make([]string, x.N)
	for i := range out {
		out[i] = Occurrence{x, i}.Key()
		out[i] = out[i][1 : len(out[i])-1]
	}
	return out
}

// Module is one instance of a module: the root manifest, or an instance of a module block.
type Module struct {
	Decl    *decl.Module
	Caller  *Module // nil for the root
	At      Occurrence
	Address string // "" for the root, else `module.web["a"]`

	// The values known without any state.
	Vars   map[string]values.Sized
	Locals map[string]values.Sized

	Resources map[string]*ResourceSet
	Children  map[string]*ModuleSet
	Settings  map[*decl.Block]TypeSettings
}

// ResourceSet holds the instances of one resource block.
type ResourceSet struct {
	Expansion
	List []Instance
}

// ModuleSet holds the instances of one module block.
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
	ByAlias map[string]*Instance // the resources of its aliases, without aliases whose block names no resource
}

// Scope is where an expression is evaluated: it determines the values of each, count,
// dep, var and local.
type Scope struct {
	Mod *Module
	At  Occurrence
	Res *Instance // the resource whose dependencies dep.ALIAS refers to; nil outside a resource
	// Check is the check whose resources may be used; nil outside a check.
	Check *decl.Check
}

// Checking returns the scope of the assertions of a check of the module.
func (m *Module) Checking(c *decl.Check) Scope { return Scope{Mod: m, Check: c} }

// Block returns the name of the block that resource.NAME refers to in this scope.
func (s Scope) Block(name string) string {
	if s.Check != nil && s.Check.Lookups[name] != nil {
		return s.Check.Lookups[name].Name
	}
	return name
}

// Scope returns the scope of the module's expressions outside of resources.
func (m *Module) Scope() Scope { return Scope{Mod: m} }

// Scope returns the scope of the resource's expressions.
func (i *Instance) Scope() Scope { return Scope{Mod: i.Mod, At: i.At, Res: i} }

// Inputs returns the scope of the module block, which sets the variables.
func (m *Module) Inputs() Scope { return Scope{Mod: m.Caller, At: m.At} }

// Scope returns the scope of the for_each or count.
func (x *Expansion) Scope() Scope { return Scope{Mod: x.Mod} }

// Join returns the address of a declaration in the module.
func (m *Module) Join(what string) string {
	if m.Address == "" {
		return what
	}
	return m.Address + "." + what
}

// Owner returns the block whose each and count may be used in the scope, nil if none.
func (s Scope) Owner() *decl.Block {
	if s.Res != nil {
		return &s.Res.Decl.Block
	}
	return nil
}

// NewModule returns an empty instance of a module.
func NewModule(b *decl.Module, caller *Module, at Occurrence, address string) *Module {
	return &Module{Decl: b, Caller: caller, At: at, Address: address, Vars: map[string]values.Sized{}, Locals: map[string]values.Sized{},
		Resources: make(map[string]*ResourceSet, len(b.Resources)), Children: map[string]*ModuleSet{},
		Settings: map[*decl.Block]TypeSettings{}}
}

// Each visits a module and the modules that it calls, directly and indirectly, callers first.
func (m *Module) Each(f func(*Module)) {
	f(m)
	for _, name := range slices.Sorted(maps.Keys(m.Children)) {
		for _, child := range m.Children[name].List {
			child.Each(f)
		}
	}
}

// TypeSettings holds the settings for the containers of a type.
type TypeSettings struct {
	runner.Settings
	Image    string
	Pull     runner.PullPolicy
	Verify   *runner.Verify
	Timeouts Timeouts // defaults of its resources
	Watch    Watch    // default of its resources
}

// Type is a declared type.
type Type struct {
	Name string
	TypeSettings
	Defaults Resolved   // defaults for the configs of its resources; no Value = none
	Range    diag.Range // of the block
}

// String identifies the scope of an evaluation as text.
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
