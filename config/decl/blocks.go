package decl

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/refs"
	"deployster/config/source"
)

// declarations are what the files of one directory declare, by name, before
// evaluation.
type declarations struct {
	Variables  map[string]*Variable
	Locals     map[string]*Local
	Types      map[string]*Block
	Plugs      map[string]*Block
	Semaphores map[string]*Block
	Resources  map[string]*Resource
	Outputs    map[string]*Block
	Calls      map[string]*Call
	Moved      []*MovedBlock
	Removed    []*RemovedBlock
	Checks     map[string]*Check
	Artifacts  map[string]*Block // of the root
	Hosts      map[string]*Block // of the root
}

func newDeclarations() declarations {
	return declarations{Variables: map[string]*Variable{}, Locals: map[string]*Local{}, Types: map[string]*Block{},
		Plugs: map[string]*Block{}, Semaphores: map[string]*Block{}, Artifacts: map[string]*Block{}, Checks: map[string]*Check{},
		Hosts: map[string]*Block{}, Resources: map[string]*Resource{}, Outputs: map[string]*Block{}, Calls: map[string]*Call{}}
}

// Block is a declared thing that is no more than its attributes.
type Block struct {
	Name  string
	At    hcl.Range // the header
	Attrs hcl.Attributes

	Timeouts, Capabilities, Verify, Watch hcl.Attributes // of a type
	Before                                []Condition    // preconditions of an output or a resource
	DependsOn                             []Dependency   // of a resource, a module block or an output
	// Artifact is what a plug gives files of, nil for a path of this host.
	Artifact *Block
	// NeedsState: an output of a module that is made of a resource.
	NeedsState bool
	// Invalid: its for_each or count refers to something that does not exist, which
	// has been said.
	Invalid bool
}

// Local is a declared local value.
type Local struct {
	what string // for messages
	at   hcl.Range
	Expr hcl.Expression
	// NeedsState: it needs a resource, itself or through other locals.
	NeedsState bool
	// Invalid: it refers to something that does not exist, which has been said.
	Invalid bool
}

// Variable is a declared variable and, once it is set, its value.
type Variable struct {
	Block
	Typ       cty.Type
	typed     bool // a type was declared
	defaults  *typeexpr.Defaults
	def       cty.Value // cty.NilVal: none
	sensitive bool
	Nullable  bool
	missing   bool // nothing gives it a value, and it has no default
	Checks    []hcl.Attributes
	// NeedsState: it is a module's, and made of a resource where that is called.
	NeedsState bool

	description string
}

// Resource is a declared resource: for_each and count make several instances
// of it.
type Resource struct {
	Block
	Lifecycle  hcl.Attributes
	Timeouts   hcl.Attributes
	Retry      hcl.Attributes
	Watch      hcl.Attributes
	Semaphores []Named
	Aliases    map[string]Dependency
	Subscribe  []Dependency
	After      []Condition // postconditions
	Ignored    ignoreRules
	Triggers   []hcl.Expression // references: replace_triggered_by
	// Publish is what a publish block says. It is kept as the resource with the name
	// publish.NAME, which no resource can have.
	Publish *Publish
	// DefaultsOf is the type whose defaults stand in the config; nil = none do.
	DefaultsOf *Block
}

// Dependency is what an element of dependencies, depends_on or subscribe names.
type Dependency struct {
	Resource *Resource      // or
	Call     *Call          // with both nil it names nothing, which has been said
	Ref      refs.Reference // with the key, if there is one
	At       hcl.Range
}

// loader decodes the blocks of the files of one directory.
type loader struct {
	t        *Tree
	b        *Module
	settings []hcl.Attributes // of the deployster blocks
	// encrypted is where the encryption block stands; nil = there is none.
	encrypted *hcl.Range
	diags     hcl.Diagnostics
}

func (l *loader) add(d ...*hcl.Diagnostic) { l.diags = append(l.diags, d...) }

// content decodes a body. The result is never nil: an error in one part keeps
// the others from being looked at no less.
func (l *loader) content(b hcl.Body, s schema) *hcl.BodyContent {
	c, diags := b.Content(s.BodySchema)
	for _, d := range diags {
		if d.Summary == "Missing required argument" && l.t.Set.Broken[d.Subject.Filename] {
			continue // it may be where the parser did not see it
		}
		addHint(d, s)
		l.add(d)
	}
	if c == nil {
		c = &hcl.BodyContent{}
	}
	return c
}

// root decodes the blocks of one file.
func (l *loader) root(body hcl.Body) {
	for _, b := range l.content(body, rootSchema()).Blocks {
		if len(b.Labels) > 0 && !source.IsName(b.Labels[0]) {
			l.add(source.Failure(b.LabelRanges[0], "Invalid name", "%s", source.WhyNoName(b.Labels[0])))
			continue
		}
		kinds[slices.IndexFunc(kinds, func(k Kind) bool { return k.Block == b.Type })].decode(l, b)
	}
}

// deployster decodes a block of settings.
func (l *loader) deployster(b *hcl.Block) {
	c := l.content(b.Body, deploysterSchema)
	l.settings = append(l.settings, c.Attributes)
	l.constant(c.Attributes["adopt"], cty.Bool, func(v cty.Value) { l.t.New = l.t.New || v.False() })
	l.constant(c.Attributes["auto_edges"], cty.Bool, func(v cty.Value) { l.t.AutoEdges = l.t.AutoEdges || v.True() })
	l.encryption(c)
}

// twice says that a name is taken.
func twice(kind, name string, first, second hcl.Range) *hcl.Diagnostic {
	return source.Failure(second, "Declared twice", "The %s %q is declared here, and already at %s:%d. Names are shared by all files: "+
		"rename one, or remove it.",
		kind, name, first.Filename, first.Start.Line)
}

func (l *loader) header(b *hcl.Block) Block { return Block{Name: b.Labels[0], At: b.DefRange} }

// attributes decodes a block that is no more than its attributes.
func (l *loader) attributes(b *hcl.Block, s schema, into map[string]*Block) (*Block, *hcl.BodyContent) {
	p := l.header(b)
	c := l.content(b.Body, s)
	p.Attrs, p.Before = c.Attributes, l.conditions(c, "precondition")
	if first := into[p.Name]; first != nil {
		l.add(twice(b.Type, p.Name, first.At, p.At))
	} else {
		into[p.Name] = &p
	}
	return &p, c
}

func (l *loader) typ(b *hcl.Block) {
	t, c := l.attributes(b, typeSchema, l.b.Types)
	t.Timeouts = l.single(c, "timeouts", typeTimesSchema)
	t.Verify = l.single(c, "verify", verifySchema)
	t.Capabilities = l.single(c, "capabilities", capabilitySchema)
	t.Watch = l.single(c, "watch", watchSchema)
}

func (l *loader) locals(b *hcl.Block) {
	attrs, diags := b.Body.JustAttributes()
	l.add(diags...)
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		a := attrs[name]
		if first := l.b.Locals[name]; first != nil {
			l.add(twice("local value", name, first.at, a.NameRange))
			continue
		}
		l.b.Locals[name] = &Local{what: "a local value", at: a.NameRange, Expr: a.Expr}
	}
}

func (l *loader) resource(b *hcl.Block) {
	r := &Resource{Block: l.header(b)}
	c := l.content(b.Body, resourceSchema)
	r.Attrs = c.Attributes
	lifecycle := l.singleContent(c, "lifecycle", lifecycleSchema)
	r.Lifecycle, r.Before, r.After = lifecycle.Attributes, l.conditions(lifecycle, "precondition"), l.conditions(lifecycle, "postcondition")
	r.Ignored = l.ignoreChanges(r.Lifecycle["ignore_changes"])
	r.Triggers = l.triggers(r.Lifecycle["replace_triggered_by"])
	r.Timeouts = l.single(c, "timeouts", timeoutsSchema)
	r.Retry, r.Watch = l.single(c, "retry", retrySchema), l.single(c, "watch", watchSchema)
	r.Semaphores = l.semaphoreNames(r.Attrs["semaphores"])
	l.oneOf(r.Attrs)
	if first := l.b.Resources[r.Name]; first != nil {
		l.add(twice("resource", r.Name, first.At, r.At))
		return
	}
	l.b.Resources[r.Name] = r
}

// single decodes the attributes of a nested block that may be there once.
func (l *loader) single(c *hcl.BodyContent, kind string, s schema) hcl.Attributes {
	return l.singleContent(c, kind, s).Attributes
}

// singleContent decodes a nested block that may be there once. The result is
// never nil.
func (l *loader) singleContent(c *hcl.BodyContent, kind string, s schema) *hcl.BodyContent {
	out := &hcl.BodyContent{}
	var first *hcl.Block
	for _, b := range c.Blocks.OfType(kind) {
		content := l.content(b.Body, s)
		if first != nil {
			l.add(source.Failure(b.DefRange, "Declared twice", "There is already a %s block here, at %s:%d. Put both together.", kind,
				first.DefRange.Filename, first.DefRange.Start.Line))
			continue
		}
		first, out = b, content
	}
	return out
}
