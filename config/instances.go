package config

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/internal/base/diag"
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

// quoteKey writes text as HCL and JSON both do, with nothing in it that could
// not be seen.
func quoteKey(key string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range key {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\u00a0' || diag.Visible(string(r)) != string(r):
			b.WriteString(escaped(r))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(b.String())
}

func escaped(r rune) string {
	const digits = "0123456789abcdef"
	if r > 0xffff { // as JSON does it, in two halves, would be no HCL
		return `\U` + hexOf(uint32(r), 8, digits)
	}
	return `\u` + hexOf(uint32(r), 4, digits)
}

func hexOf(n uint32, width int, digits string) string {
	out := make([]byte, width)
	for i := width - 1; i >= 0; i-- {
		out[i] = digits[n&15]
		n >>= 4
	}
	return string(out)
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

// known is a value, and how many bytes of text it has.
type known struct {
	value cty.Value
	size  int
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

func (m *module) site() site    { return site{mod: m} }
func (i *instance) site() site  { return site{i.mod, i.at, i} }
func (m *module) inputs() site  { return site{mod: m.caller, at: m.at} } // where the module block stands
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

func stringKey(key string) cty.Value { return cty.StringVal(key) }

// find is the resource with an address, nil if there is none.
func (m *Manifest) find(address string) *instance {
	i := sort.Search(len(m.instances), func(i int) bool { return m.instances[i].Address >= address })
	if i < len(m.instances) && m.instances[i].Address == address {
		return m.instances[i]
	}
	return nil
}

// Reference writes a resource's address as messages and expressions do:
// resource.web, and module.a.web as it is.
func Reference(address string) string {
	if strings.HasPrefix(address, "module.") {
		return address
	}
	return "resource." + address
}
