package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"
)

// The blocks that a manifest may have.
var (
	rootSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "deployster"}, {Type: "locals"},
		{Type: "variable", LabelNames: []string{"name"}}, {Type: "type", LabelNames: []string{"name"}},
		{Type: "plug", LabelNames: []string{"name"}}, {Type: "resource", LabelNames: []string{"name"}},
		{Type: "output", LabelNames: []string{"name"}}, {Type: "module", LabelNames: []string{"name"}},
		{Type: "moved"}, {Type: "removed"}, {Type: "check", LabelNames: []string{"name"}},
	}}
	deploysterSchema = attributes("required_version", "state").with("encryption")
	typeSchema       = attributes("image!", "pull", "network", "env", "memory", "cpu", "pids", "workers", "disk", "mount_workspace", "read_only_rootfs", "user", "userns", "answer_size", "log_size").with("verify", "timeouts", "capabilities")
	verifySchema     = attributes("key!", "repository")
	plugSchema       = attributes("path!", "read_only", "resource_names", "resource_types")
	outputSchema     = attributes("value!", "description", "sensitive").with("precondition")
	variableSchema   = attributes("type", "default", "description", "sensitive", "nullable").with("validation")
	validationSchema = attributes("condition!", "error_message!")
	resourceSchema   = attributes("type!", "for_each", "count", "config", "dependencies", "depends_on", "read_only").with("lifecycle", "timeouts")
	lifecycleSchema  = attributes("prevent_destroy", "on_remove", "ignore_changes").with(lifecycleBlocks...)
	timeoutsSchema   = attributes("state", "action")
	typeTimesSchema  = attributes("init", "state", "action")
	capabilitySchema = attributes("add", "drop")

	validName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]*$`)
)

type schema struct{ *hcl.BodySchema }

// attributes makes a schema; a name that ends in ! is required.
func attributes(names ...string) schema {
	s := &hcl.BodySchema{}
	for _, n := range names {
		required := n[len(n)-1] == '!'
		if required {
			n = n[:len(n)-1]
		}
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: n, Required: required})
	}
	return schema{s}
}

func (s schema) with(blocks ...string) schema {
	for _, b := range blocks {
		s.Blocks = append(s.Blocks, hcl.BlockHeaderSchema{Type: b})
	}
	return s
}

// declarations are what the files of one directory declare, by name, before
// evaluation.
type declarations struct {
	variables map[string]*variable
	locals    map[string]*local
	types     map[string]*block
	plugs     map[string]*block
	resources map[string]*resource
	outputs   map[string]*block
	calls     map[string]*call
	moved     []*moved
	removed   []*removed
	checks    map[string]*check
}

func newDeclarations() declarations {
	return declarations{variables: map[string]*variable{}, locals: map[string]*local{}, types: map[string]*block{},
		plugs: map[string]*block{}, resources: map[string]*resource{}, outputs: map[string]*block{}, calls: map[string]*call{},
		checks: map[string]*check{}}
}

// block is a declared thing that is no more than its attributes.
type block struct {
	name  string
	at    hcl.Range // the header
	attrs hcl.Attributes

	timeouts, capabilities, verify hcl.Attributes // of a type
	before                         []condition    // preconditions of an output or a resource
	// dynamic: an output of a module that is made of a resource.
	dynamic bool
	// wrong: its for_each or count refers to something that does not exist, which
	// has been said.
	wrong bool
}

// local is a declared local value.
type local struct {
	name string
	at   hcl.Range
	expr hcl.Expression
	// dynamic: it needs a resource, itself or through other locals.
	dynamic bool
	// wrong: it refers to something that does not exist, which has been said.
	wrong bool
}

// variable is a declared variable and, once it is set, its value.
type variable struct {
	block
	typ       cty.Type
	typed     bool // a type was declared
	defaults  *typeexpr.Defaults
	def       cty.Value // cty.NilVal: none
	sensitive bool
	nullable  bool
	missing   bool // nothing gives it a value, and it has no default
	checks    []hcl.Attributes
	// dynamic: it is a module's, and made of a resource where that is called.
	dynamic bool

	description string
}

// resource is a declared resource: for_each and count make several instances
// of it.
type resource struct {
	block
	lifecycle hcl.Attributes
	timeouts  hcl.Attributes
	aliases   map[string]dependency
	dependsOn []dependency
	after     []condition // postconditions
	ignored   ignored
}

// dependency is what an element of dependencies or depends_on names.
type dependency struct {
	resource *resource // or
	call     *call     // with both nil it names nothing, which has been said
	ref      reference // with the key, if there is one
	at       hcl.Range
}

// loader decodes the blocks of the files of one directory.
type loader struct {
	t        *declTree
	b        *moduleBlock
	settings []hcl.Attributes // of the deployster blocks
	// encrypted is where the encryption block stands; nil = there is none.
	encrypted *hcl.Range
	diags     hcl.Diagnostics
}

func (l *loader) add(d ...*hcl.Diagnostic) { l.diags = append(l.diags, d...) }

// content decodes a body. The result is never nil: an error in one part keeps
// the others from being looked at no less.
func (l *loader) content(b hcl.Body, s *hcl.BodySchema) *hcl.BodyContent {
	c, diags := b.Content(s)
	for _, d := range diags {
		if d.Summary == "Missing required argument" && l.t.set.broken[d.Subject.Filename] {
			continue // it may be where the parser did not see it
		}
		teach(d, s)
		l.add(d)
	}
	if c == nil {
		c = &hcl.BodyContent{}
	}
	return c
}

// whatCanStand lists the blocks and attributes of a schema.
func whatCanStand(s *hcl.BodySchema) string {
	var names []string
	for _, a := range s.Attributes {
		names = append(names, a.Name)
	}
	for _, b := range s.Blocks {
		names = append(names, "the block "+b.Type)
	}
	return "What can stand here: " + strings.Join(names, ", ") + "."
}

// root decodes the blocks of one file.
func (l *loader) root(body hcl.Body) {
	for _, b := range l.content(body, rootSchema).Blocks {
		if len(b.Labels) > 0 && !validName.MatchString(b.Labels[0]) {
			l.add(failure(b.LabelRanges[0], "Invalid name", "%q cannot be a name. A name begins with a letter and has letters, digits, _ and - only.", b.Labels[0]))
			continue
		}
		switch b.Type {
		case "deployster":
			c := l.content(b.Body, deploysterSchema.BodySchema)
			l.settings = append(l.settings, c.Attributes)
			l.encryption(c)
		case "locals":
			l.locals(b)
		case "variable":
			l.variable(b)
		case "type":
			l.typ(b)
		case "plug":
			l.plain(b, plugSchema, l.b.plugs)
		case "output":
			l.plain(b, outputSchema, l.b.outputs)
		case "resource":
			l.resource(b)
		case "moved":
			l.moved(b)
		case "removed":
			l.removed(b)
		case "module":
			l.call(b)
		case "check":
			l.check(b)
		}
	}
}

// twice says that a name is taken.
func twice(kind, name string, first, second hcl.Range) *hcl.Diagnostic {
	return failure(second, "Declared twice", "The %s %q is declared here, and already at %s:%d. Names are shared by all files: rename one, or remove it.",
		kind, name, first.Filename, first.Start.Line)
}

func (l *loader) header(b *hcl.Block) block { return block{name: b.Labels[0], at: b.DefRange} }

func (l *loader) plain(b *hcl.Block, s schema, into map[string]*block) (*block, *hcl.BodyContent) {
	p := l.header(b)
	c := l.content(b.Body, s.BodySchema)
	p.attrs, p.before = c.Attributes, l.conditions(c, "precondition")
	if first := into[p.name]; first != nil {
		l.add(twice(b.Type, p.name, first.at, p.at))
	} else {
		into[p.name] = &p
	}
	return &p, c
}

func (l *loader) typ(b *hcl.Block) {
	t, c := l.plain(b, typeSchema, l.b.types)
	t.timeouts = l.single(c, "timeouts", typeTimesSchema)
	t.verify = l.single(c, "verify", verifySchema)
	t.capabilities = l.single(c, "capabilities", capabilitySchema)
}

func (l *loader) locals(b *hcl.Block) {
	attrs, diags := b.Body.JustAttributes()
	l.add(diags...)
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		a := attrs[name]
		if first := l.b.locals[name]; first != nil {
			l.add(twice("local value", name, first.at, a.NameRange))
			continue
		}
		l.b.locals[name] = &local{name: name, at: a.NameRange, expr: a.Expr}
	}
}

func (l *loader) resource(b *hcl.Block) {
	r := &resource{block: l.header(b)}
	c := l.content(b.Body, resourceSchema.BodySchema)
	r.attrs = c.Attributes
	lifecycle := l.singleContent(c, "lifecycle", lifecycleSchema)
	r.lifecycle, r.before, r.after = lifecycle.Attributes, l.conditions(lifecycle, "precondition"), l.conditions(lifecycle, "postcondition")
	r.ignored = l.ignoreChanges(r.lifecycle["ignore_changes"])
	r.timeouts = l.single(c, "timeouts", timeoutsSchema)
	l.oneOf(r.attrs)
	if first := l.b.resources[r.name]; first != nil {
		l.add(twice("resource", r.name, first.at, r.at))
		return
	}
	l.b.resources[r.name] = r
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
		content := l.content(b.Body, s.BodySchema)
		if first != nil {
			l.add(failure(b.DefRange, "Declared twice", "There is already a %s block here, at %s:%d. Put both together.", kind, first.DefRange.Filename, first.DefRange.Start.Line))
			continue
		}
		first, out = b, content
	}
	return out
}
