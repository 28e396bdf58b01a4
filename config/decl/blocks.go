package decl

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/ignore"
	"deployster/config/refs"
	"deployster/config/schema"
	"deployster/config/source"
)

// declarations holds the blocks of the files of one directory, by name, before evaluation.
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
	Artifacts  map[string]*Block  // of the root
	Hosts      map[string]*Block  // of the root
	Exclusive  map[string]*Block  // of the root
	Policies   map[string]*Policy // of the root
	Notify     map[string]*Block  // of the root
	Secrets    map[string]*Block  // of the root
	Operations map[string]*Operation

	RemoteStates map[string]*Block // of the root
}

func newDeclarations() declarations {
	return declarations{Variables: map[string]*Variable{}, Locals: map[string]*Local{}, Types: map[string]*Block{},
		Plugs: map[string]*Block{}, Semaphores: map[string]*Block{}, Artifacts: map[string]*Block{}, Checks: map[string]*Check{},
		Hosts: map[string]*Block{}, Exclusive: map[string]*Block{}, Policies: map[string]*Policy{}, Notify: map[string]*Block{},
		RemoteStates: map[string]*Block{},
		Secrets:      map[string]*Block{},
		Operations:   map[string]*Operation{},
		Resources:    map[string]*Resource{}, Outputs: map[string]*Block{}, Calls: map[string]*Call{}}
}

// Block is a declaration that consists of its attributes.
type Block struct {
	Name  string
	At    hcl.Range // the header
	Attrs hcl.Attributes

	Timeouts, Capabilities, Verify, Watch hcl.Attributes // of a type
	Before                                []Condition    // preconditions of an output or a resource
	DependsOn                             []Dependency   // of a resource, a module block or an output
	// Kubernetes is the block of a host that makes it a namespace of a cluster; nil = it has none.
	Kubernetes *Block
	// Artifact is the artifact whose files a plug gives, nil for a path of this host.
	Artifact *Block
	// Passed are the resources of an artifact that must have been VALID with a version before it is used.
	Passed []Target
	// Deprecated is what to use in place of a variable or an output, "" if it is not deprecated.
	Deprecated string
	// Kept is the type of an output's value; nil = any.
	Kept *Kept
	// NeedsState: it is an output of a module that depends on a resource.
	NeedsState bool
	// Waits: it is an output that depends on a resource, or on a block with depends_on.
	Waits bool
	// Invalid: its for_each or count refers to something undeclared, which is already
	// reported.
	Invalid bool
}

// Local is a declared local value.
type Local struct {
	what string // for messages
	at   hcl.Range
	Expr hcl.Expression
	// NeedsState: it depends on a resource, directly or through other locals.
	NeedsState bool
	// Waits: it depends on a resource, or on a block with depends_on.
	Waits bool
	// Invalid: it refers to something undeclared, which is already reported.
	Invalid bool
}

// Resource is a resource block: with for_each or count it has several instances.
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
	Ignored    ignore.Rules
	Triggers   []hcl.Expression // references: replace_triggered_by
	// Publish is set for a publish block. It is stored as the resource with the name
	// publish.NAME, which no resource can have.
	Publish *Publish
	// Check is the check that alone reads it: it is stored under LookupPrefix. nil = it is a resource of the module.
	Check *Check
	// DefaultsOf is the type whose defaults are merged into the config; nil = none.
	DefaultsOf *Block
}

// Dependency is an element of dependencies, depends_on or subscribe.
type Dependency struct {
	Resource *Resource      // or
	Call     *Call          // if both are nil, it names nothing declared, which is already reported
	Ref      refs.Reference // with the instance key, if any
	At       hcl.Range
}

// loader decodes the blocks of the files of one directory.
type loader struct {
	t        *Tree
	b        *Module
	settings []hcl.Attributes // of the deployster blocks
	// encrypted is the place of the encryption block; nil = there is none.
	encrypted *hcl.Range
	diags     hcl.Diagnostics
}

func (l *loader) add(d ...*hcl.Diagnostic) { l.diags = append(l.diags, d...) }

// content decodes a body. The result is never nil: an error in one part does not
// prevent the checks of the others.
func (l *loader) content(b hcl.Body, s schema.Schema) *hcl.BodyContent {
	c, diags := b.Content(s.BodySchema)
	for _, d := range diags {
		if d.Summary == "Missing required argument" && l.t.Set.Broken[d.Subject.Filename] {
			continue // the parser may have missed it because of a syntax error
		}
		s.Hint(d)
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
		if only, is := rootOnly[b.Type]; is && l.b.Parent != nil {
			l.add(source.Failure(b.DefRange, only.summary, "%s", strings.ReplaceAll(only.detail, "NAME", b.Labels[0])))
		}
		kinds[slices.IndexFunc(kinds, func(k Kind) bool { return k.Block == b.Type })].decode(l, b)
	}
}

// deployster decodes a deployster block.
func (l *loader) deployster(b *hcl.Block) {
	c := l.content(b.Body, schema.Deployster)
	l.settings = append(l.settings, c.Attributes)
	l.constant(c.Attributes["adopt"], cty.Bool, func(v cty.Value) { l.t.New = l.t.New || v.False() })
	l.constant(c.Attributes["auto_edges"], cty.Bool, func(v cty.Value) { l.t.AutoEdges = l.t.AutoEdges || v.True() })
	l.encryption(c)
	l.exports(c)
}

// twice returns the error for a name that is already taken.
func twice(kind, name string, first, second hcl.Range) *hcl.Diagnostic {
	return source.Failure(second, "Declared twice", "The %s %q is declared here, and already at %s:%d. Names are shared by all files: "+
		"rename one, or remove it.",
		kind, name, first.Filename, first.Start.Line)
}

func (l *loader) header(b *hcl.Block) Block { return Block{Name: b.Labels[0], At: b.DefRange} }

// attributes decodes a block that consists of its attributes and preconditions.
func (l *loader) attributes(b *hcl.Block, s schema.Schema, into map[string]*Block) (*Block, *hcl.BodyContent) {
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
	t, c := l.attributes(b, schema.Type, l.b.Types)
	t.Timeouts = l.single(c, "timeouts", schema.TypeTimeouts)
	t.Verify = l.single(c, "verify", schema.Verify)
	t.Capabilities = l.single(c, "capabilities", schema.Capabilities)
	t.Watch = l.single(c, "watch", schema.Watch)
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
	c := l.content(b.Body, schema.Resource)
	r.Attrs = c.Attributes
	lifecycle := l.singleContent(c, "lifecycle", schema.Lifecycle)
	r.Lifecycle, r.Before, r.After = lifecycle.Attributes, l.conditions(lifecycle, "precondition"), l.conditions(lifecycle, "postcondition")
	r.Ignored = l.ignoreChanges(r.Lifecycle["ignore_changes"])
	r.Triggers = l.triggers(r.Lifecycle["replace_triggered_by"])
	r.Timeouts = l.single(c, "timeouts", schema.Timeouts)
	r.Retry, r.Watch = l.single(c, "retry", schema.Retry), l.single(c, "watch", schema.Watch)
	r.Semaphores = l.semaphoreNames(r.Attrs["semaphores"])
	l.oneOf(r.Attrs)
	if first := l.b.Resources[r.Name]; first != nil {
		l.add(twice("resource", r.Name, first.At, r.At))
		return
	}
	l.b.Resources[r.Name] = r
}

// single decodes the attributes of a nested block that may occur once.
func (l *loader) single(c *hcl.BodyContent, kind string, s schema.Schema) hcl.Attributes {
	return l.singleContent(c, kind, s).Attributes
}

// singleContent decodes a nested block that may occur once. The result is never nil.
func (l *loader) singleContent(c *hcl.BodyContent, kind string, s schema.Schema) *hcl.BodyContent {
	out := &hcl.BodyContent{}
	var first *hcl.Block
	for _, b := range c.Blocks.OfType(kind) {
		content := l.content(b.Body, s)
		if first != nil {
			l.add(source.Failure(b.DefRange, "Declared twice", "There is already %s block here, at %s:%d. Put both together.",
				Article(kind), first.DefRange.Filename, first.DefRange.Start.Line))
			continue
		}
		first, out = b, content
	}
	return out
}
