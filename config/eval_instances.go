package config

import (
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// repetition says how a block makes instances.
type repetition int

const (
	once    repetition = iota // neither for_each nor count
	forEach                   // keys are text
	counted                   // keys are 0, 1, 2...
)

// expansion is what the for_each or count of one block came to, in one instance
// of the module that it stands in.
type expansion struct {
	repetition
	mod *module // where the block stands
	// address is that of its instances, without their keys.
	address string
	expr    hcl.Expression
	// pending: how many instances there are is known only with the states of
	// others. wrong: it will not be known, and that has been said.
	pending, wrong bool
	// learned: it was pending, and was given by Expand or by a plan.
	learned bool
	keys    []string // of for_each, sorted
	n       int      // instances
	// values are what each.value is, as far as that is known without any state;
	// nil for sets and where nothing is known.
	values map[string]cty.Value
	set    bool // for_each is over a set: each.value is each.key
}

// occurrence is one of the instances that a block stands for.
type occurrence struct {
	of *expansion // nil: the block stands for itself alone
	i  int
}

// key is what stands in the brackets of its address, as in a manifest.
func (o occurrence) key() string {
	if o.of == nil {
		return ""
	}
	switch o.of.repetition {
	case forEach:
		return "[" + quoteKey(o.of.keys[o.i]) + "]"
	case counted:
		return "[" + strconv.Itoa(o.i) + "]"
	}
	return ""
}

// index finds a key, -1 if there is none.
func (x *expansion) index(key cty.Value) int {
	switch x.repetition {
	case forEach:
		if i, found := slices.BinarySearch(x.keys, key.AsString()); found {
			return i
		}
	case counted:
		if i, accuracy := key.AsBigFloat().Int64(); accuracy == 0 && i >= 0 && i < int64(x.n) {
			return int(i)
		}
	}
	return -1
}

// keyName is the name of instance i as an attribute of an object: HCL finds the
// attribute "2" for the index 2.
func (x *expansion) keyName(i int) string {
	if x.repetition == forEach {
		return x.keys[i]
	}
	return strconv.Itoa(i)
}

// names lists the keys as they are written, for messages.
func (x *expansion) names() []string {
	out := make([]string, x.n)
	for i := range out {
		out[i] = occurrence{x, i}.key()
		out[i] = out[i][1 : len(out[i])-1]
	}
	return out
}

// module is one instance of a module: the root manifest, or one of those that a
// module block stands for.
type module struct {
	block   *moduleBlock
	caller  *module // nil for the root
	at      occurrence
	address string // "" for the root, else `module.web["a"]`

	// What is known without any state.
	vars   map[string]known
	locals map[string]known

	resources map[string]*resourceSet
	children  map[string]*moduleSet
	settings  map[*block]typeSettings
}

// resourceSet are the instances of one resource block.
type resourceSet struct {
	expansion
	list []instance
}

// moduleSet are the instances of one module block.
type moduleSet struct {
	expansion
	list []*module
}

// instance is one resource.
type instance struct {
	Resource
	block   *resource
	mod     *module
	at      occurrence
	aliases map[string]aliased
}

// aliased is the resource that an alias stands for, nil if its block names none.
type aliased struct {
	to *instance
	at hcl.Range
}

// site is where an expression is evaluated: what each, count, dep, var and local
// mean there.
type site struct {
	mod *module
	at  occurrence
	res *instance // whose dependencies dep.ALIAS are; nil outside a resource
}

func (m *module) site() site { return site{mod: m} }

func (i *instance) site() site { return site{i.mod, i.at, i} }

func (m *module) inputs() site { return site{mod: m.caller, at: m.at} } // where the module block stands

func (x *expansion) site() site { return site{mod: x.mod} }

func (m *module) join(what string) string {
	if m.address == "" {
		return what
	}
	return m.address + "." + what
}

// block is the one whose each and count may be used at a site, nil if none.
func (s site) block() *block {
	if s.res != nil {
		return &s.res.block.block
	}
	return nil
}
