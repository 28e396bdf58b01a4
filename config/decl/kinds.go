package decl

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/schema"
)

// Kind is a kind of top-level block of a manifest and its name in expressions, or a
// name in expressions without a block, such as each. All that differs between kinds
// is in the entries of kinds: a new kind needs one entry.
type Kind struct {
	// Block is the type of the block, "" for none; blocks of a named kind have a label.
	Block  string
	named  bool
	schema schema.Schema
	decode func(*loader, *hcl.Block)

	// Root is its name in expressions, as in root.NAME; "" for none.
	Root     string
	Noun     string                              // used in messages: there is no NOUN "x"
	Advice   string                              // what to do if the name is not declared
	allowed  func(Usage) bool                    // where it may be used; nil = anywhere
	declared func(*Module, Usage) Names          // the declared names
	late     func(b *Module, name string) string // why a value needs states, "" if it does not

	// expressions visits the expressions that are evaluated when states are known.
	expressions func(b *Module, visit func(Expression))
}

// kinds holds all kinds, in the order in which messages list them.
var kinds = []Kind{
	{Block: "deployster", schema: schema.Deployster, decode: (*loader).deployster,
		Root: "deployster", Noun: "attribute of deployster", Advice: correct, declared: fixed("verbose", "version", "workspace")},
	{Block: "locals", decode: (*loader).locals,
		Root: "local", Noun: "local value", Advice: "Declare it in a locals block, or correct the name",
		declared: func(b *Module, _ Usage) Names { return names[*Local](b.Locals) }, late: lateLocal, expressions: localExpressions},
	{Block: "variable", named: true, schema: schema.Variable, decode: (*loader).variable,
		Root: "var", Noun: "variable", Advice: "Declare it with a variable block, or correct the name",
		declared: func(b *Module, _ Usage) Names { return names[*Variable](b.Variables) }, late: lateVariable,
		expressions: variableExpressions},
	{Block: "type", named: true, schema: schema.Type, decode: (*loader).typ,
		Root: "type", Noun: "type", Advice: "Declare it with a type block, or correct the name",
		allowed:  func(u Usage) bool { return !u.Static || u.Types },
		declared: func(b *Module, _ Usage) Names { return names[*Block](b.TypeNames()) }},
	{Block: "plug", named: true, schema: schema.Plug, decode: func(l *loader, b *hcl.Block) { l.attributes(b, schema.Plug, l.b.Plugs) },
		Root: "plug", Noun: "plug", Advice: "Declare it with a plug block, or correct the name", allowed: notStatic,
		declared: func(b *Module, _ Usage) Names { return names[*Block](b.Root().Plugs) }},
	{Block: "host", named: true, schema: schema.Host, decode: (*loader).host,
		Root: "host", Noun: "host", Advice: "Declare it with a host block in the root manifest, or correct the name; a module gets it by " +
			"a variable",
		allowed:  func(u Usage) bool { return !u.Static || u.Hosts },
		declared: func(b *Module, _ Usage) Names { return names[*Block](b.Hosts) }},
	{Block: "semaphore", named: true, schema: schema.Semaphore,
		decode: func(l *loader, b *hcl.Block) { l.attributes(b, schema.Semaphore, l.b.Semaphores) }},
	{Block: "exclusive", named: true, schema: schema.Exclusive,
		decode: func(l *loader, b *hcl.Block) { l.attributes(b, schema.Exclusive, l.b.Exclusive) }},
	{Block: "policy", named: true, schema: schema.Policy, decode: (*loader).policy, expressions: policyExpressions},
	{Block: "notify", named: true, schema: schema.Notify,
		decode: func(l *loader, b *hcl.Block) { l.attributes(b, schema.Notify, l.b.Notify) }},
	{Block: "secret", named: true, schema: schema.Secret,
		decode: func(l *loader, b *hcl.Block) { l.attributes(b, schema.Secret, l.b.Secrets) },
		Root:   "secret", Noun: "secret", Advice: "Declare it with a secret block in the root manifest, or correct the name",
		allowed:  func(u Usage) bool { return u.Secrets },
		declared: func(b *Module, _ Usage) Names { return names[*Block](b.Root().Secrets) }},
	{Block: "operation", named: true, schema: schema.Operation, decode: (*loader).operation},
	{Block: "resource", named: true, schema: schema.Resource, decode: (*loader).resource,
		Root: "resource", Noun: "resource", Advice: "Declare it with a resource block, or correct the name", allowed: notStatic,
		declared: func(b *Module, u Usage) Names { return resourceNames{b, u} }, expressions: resourceExpressions},
	{Block: "artifact", named: true, schema: schema.Artifact, decode: (*loader).artifact,
		Root: "artifact", Noun: "artifact", Advice: "Declare it with an artifact block in the root manifest, or correct the name",
		allowed: notStatic, declared: func(b *Module, _ Usage) Names { return names[*Block](b.Artifacts) }},
	{Block: "publish", named: true, schema: schema.Publish, decode: (*loader).publish,
		Root: "publish", Noun: "publish block", Advice: "Declare it with a publish block in the root manifest, or correct the name",
		allowed: notStatic, declared: func(b *Module, _ Usage) Names { return publishNames(b.Resources) }},
	{Block: "remote_state", named: true, schema: schema.RemoteState,
		decode: func(l *loader, b *hcl.Block) { l.attributes(b, schema.RemoteState, l.b.RemoteStates) },
		Root:   "remote_state", Noun: "state of another project",
		Advice:   "Declare it in the root manifest, or correct the name; a module gets the values by a variable",
		declared: func(b *Module, _ Usage) Names { return names[*Block](b.RemoteStates) }},
	{Block: "output", named: true, schema: schema.Output,
		decode:      (*loader).output,
		expressions: outputExpressions},
	{Block: "module", named: true, schema: schema.Module, decode: (*loader).call,
		Root: "module", Noun: "module", Advice: "Declare it with a module block, or correct the name",
		declared: func(b *Module, _ Usage) Names { return names[*Call](b.Calls) }, expressions: callExpressions},
	{Block: "moved", schema: schema.Moved, decode: (*loader).moved},
	{Block: "removed", schema: schema.Removed, decode: (*loader).removed},
	{Block: "check", named: true, schema: schema.Check, decode: (*loader).check, expressions: checkExpressions},

	{Root: "dep", Noun: "dependency with the alias", Advice: "Add it to the dependencies of this resource, or correct the name",
		allowed:  func(u Usage) bool { return !u.Static && u.Owner != nil },
		declared: func(_ *Module, u Usage) Names { return names[Dependency](u.Owner.Aliases) }},
	{Root: "self", allowed: func(u Usage) bool { return u.Self }},
	{Root: "plan", allowed: func(u Usage) bool { return u.Plan }},
	{Root: "deny", allowed: func(u Usage) bool { return u.Denied }},
	{Root: "each", Noun: "attribute of each", Advice: correct, declared: fixed("key", "value"),
		allowed: func(u Usage) bool { return u.Repeated != nil && u.Repeated.Attrs["for_each"] != nil }},
	{Root: "count", Noun: "attribute of count", Advice: correct, declared: fixed("index"),
		allowed: func(u Usage) bool { return u.Repeated != nil && u.Repeated.Attrs["count"] != nil }},
	{Root: "path", Noun: "path", Advice: correct, declared: fixed("cwd", "module", "root")},
}

const correct = "Correct the name"

// KindOf returns the kind with this name in expressions, nil if there is none.
func KindOf(root string) *Kind {
	for i := range kinds {
		if kinds[i].Root == root && root != "" {
			return &kinds[i]
		}
	}
	return nil
}

// Allows reports whether the kind may be used in an expression.
func (k *Kind) Allows(u Usage) bool { return k.allowed == nil || k.allowed(u) }

// Declared returns the declared names of the kind.
func (k *Kind) Declared(b *Module, u Usage) Names { return k.declared(b, u) }

// Late returns why the value of a name is known only with states, "" if it is known earlier.
func (k *Kind) Late(b *Module, name string) string {
	if k.late == nil {
		return ""
	}
	return k.late(b, name)
}

// Names is the set of the declared names of one kind.
type Names interface {
	Has(name string) bool
	List() []string // sorted
}

type names[V any] map[string]V

func (n names[V]) Has(name string) bool {
	_, ok := n[name]
	return ok
}

// List omits names that no expression can use, such as those of the defaults of a type.
func (n names[V]) List() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(n)), func(name string) bool { return strings.Contains(name, ".") })
}

// fixed returns a set of names that are always declared.
func fixed(list ...string) func(*Module, Usage) Names {
	all := names[bool]{}
	for _, name := range list {
		all[name] = true
	}
	return func(*Module, Usage) Names { return all }
}

func notStatic(u Usage) bool { return !u.Static }

func lateLocal(b *Module, name string) string {
	if b.Locals[name].NeedsState {
		return "needs a resource, or what is made when the plan is applied"
	}
	return ""
}

func lateVariable(b *Module, name string) string {
	if b.Variables[name].NeedsState {
		return "is made of a resource where the module is called"
	}
	return ""
}

// rootSchema returns the schema of the top level of a manifest.
func rootSchema() schema.Schema {
	var blocks []hcl.BlockHeaderSchema
	for _, k := range kinds {
		if k.Block == "" {
			continue
		}
		header := hcl.BlockHeaderSchema{Type: k.Block}
		if k.named {
			header.LabelNames = []string{"name"}
		}
		blocks = append(blocks, header)
	}
	return schema.Root(blocks)
}
