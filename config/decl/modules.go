package decl

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty/function"

	"deployster/config/limits"
	"deployster/config/refs"
	"deployster/config/schema"
	"deployster/config/source"
	"deployster/internal/base/words"
)

// All returns a module and the modules that it calls, directly and indirectly, callers first.
func (b *Module) All() []*Module {
	all := []*Module{b}
	for i := 0; i < len(all); i++ {
		for _, name := range slices.Sorted(maps.Keys(all[i].Children)) {
			all = append(all, all[i].Children[name])
		}
	}
	return all
}

// OutputsOf returns the outputs of a module that a reference may read.
func OutputsOf(ref refs.Reference, child *Module) []string {
	steps := ref.Traversal[2:]
	if ref.Key != nil || ref.Splat {
		steps = ref.Rest
	} else if child.Call.Repeats() && len(steps) > 0 {
		if _, index := steps[0].(hcl.TraverseIndex); index {
			steps = steps[1:]
		}
	}
	if len(steps) > 0 && child.Outputs[refs.ObjectKey(steps[0])] != nil {
		return []string{refs.ObjectKey(steps[0])}
	}
	return slices.Sorted(maps.Keys(child.Outputs))
}

// The limits on modules. Two calls on each of twenty levels would make a million modules.
const (
	maxModuleDepth = 16
	maxModules     = 2000 // module blocks, counted once for each path of calls to them
)

// Module is a module before evaluation: the root manifest, or the directory that one
// module block calls. The blocks of a directory that is called twice are decoded
// twice, so that each call has its own.
type Module struct {
	Path   string  // its name in messages: "" for the root, else "module.web.module.disk"
	Parent *Module // nil for the root
	Call   *Call   // nil for the root
	Dir    string  // absolute
	declarations
	Children  map[string]*Module // the called modules whose source was read
	Functions map[string]function.Function
}

// Call is a module block.
type Call struct{ Block }

// metaArguments are the arguments of a module block that do not set variables.
var metaArguments = []string{"source", "for_each", "count", "enabled", "depends_on"}

// Inputs returns the names of the variables that a module block sets, sorted.
func (c *Call) Inputs() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(c.Attrs)) {
		if !slices.Contains(metaArguments, name) {
			names = append(names, name)
		}
	}
	return names
}

// Called returns the name of a declaration of this module in messages: "module.web.local.zone".
func (b *Module) Called(what string) string {
	if b.Path == "" {
		return what
	}
	return b.Path + "." + what
}

// TypeNames returns the types that can be used in the module: its own and those of its callers.
func (b *Module) TypeNames() map[string]*Block {
	if b.Parent == nil {
		return b.Types
	}
	all := map[string]*Block{}
	for ; b != nil; b = b.Parent {
		for name, t := range b.Types {
			if all[name] == nil {
				all[name] = t
			}
		}
	}
	return all
}

// call decodes a module block.
func (l *loader) call(b *hcl.Block) {
	c := &Call{Block: l.header(b)}
	nested, rest, diags := b.Body.PartialContent(schema.Module.BodySchema)
	l.add(diags...)
	if native, is := b.Body.(*hclsyntax.Body); is { // whose rest has the block still
		others := *native
		others.Blocks = slices.DeleteFunc(slices.Clone(native.Blocks), func(n *hclsyntax.Block) bool { return n.Type == "verify" })
		rest = &others
	}
	c.Attrs, diags = rest.JustAttributes()
	for _, d := range diags {
		d.Detail += " A module block has source, for_each, count, enabled, depends_on, NAME = VALUE for the module's variables, and a " +
			"block verify."
	}
	l.add(diags...)
	if c.Verify = l.single(nested, "verify", schema.Verify); c.Verify == nil && len(nested.Blocks) > 0 {
		c.Verify = hcl.Attributes{} // a verify block requires a signature, even if it has errors
	}
	l.oneOf(c.Attrs)
	if first := l.b.Calls[c.Name]; first != nil {
		l.add(twice("module", c.Name, first.At, c.At))
		return
	}
	l.b.Calls[c.Name] = c
}

// oneOf adds an error if a block has several of for_each, count and enabled.
func (l *loader) oneOf(attrs hcl.Attributes) {
	for _, other := range []string{"for_each", "count"} {
		if on, with := attrs["enabled"], attrs[other]; on != nil && with != nil {
			l.add(source.Failure(on.NameRange, "Both "+other+" and enabled", "Each of them sets the number of instances, so only one can "+
				"be given. For no instance at all, give %s at line %d no elements.", other, with.NameRange.Start.Line))
		}
	}
	if f, c := attrs["for_each"], attrs["count"]; f != nil && c != nil {
		l.add(source.Failure(c.NameRange, "Both for_each and count", "Each of them sets the number of instances, so only one can be "+
			"given. for_each at line %d gives every instance a name of its own, which is what to prefer.", f.NameRange.Start.Line))
	}
}

// decode decodes the blocks of one module.
func (t *Tree) decode(b *Module, bodies []hcl.Body) (*loader, hcl.Diagnostics) {
	l := &loader{t: t, b: b}
	for _, body := range bodies {
		l.root(body)
	}
	if b.Parent != nil {
		l.childOnly()
	}
	l.add(b.shadows()...)
	return l, l.diags
}

// childOnly adds an error for each setting that only the root manifest may have.
func (l *loader) childOnly() {
	for _, attrs := range l.settings {
		if a := attrs["state"]; a != nil {
			l.add(source.Failure(a.NameRange, "A state file in a module",
				"A module has no state of its own: only the root manifest sets the state file. Remove it here."))
		}
		if a := attrs["adopt"]; a != nil {
			l.add(source.Failure(a.NameRange, "A default in a module",
				"Only the root manifest sets the default of adopt. Move it there, or write it into the lifecycle blocks of the resources "+
					"here."))
		}
		if a := attrs["auto_edges"]; a != nil {
			l.add(source.Failure(a.NameRange, "A setting in a module", "Only the root manifest configures automatic edges. Move it "+
				"there."))
		}
	}
	l.add(l.t.checkVersion(l)...)
}

// loadModules reads and decodes the modules that the module blocks of b call.
func (t *Tree) loadModules(b *Module) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range slices.Sorted(maps.Keys(b.Calls)) {
		c := b.Calls[name]
		dir, problem := t.moduleSource(b, c)
		if problem != nil {
			diags = append(diags, problem)
			continue
		}
		if problem := t.tooManyModules(b, c, dir); problem != nil {
			return append(diags, problem)
		}
		bodies, d := t.Set.ModuleBodies(dir, c.Attrs["source"].Expr.Range())
		if diags = append(diags, d...); d.HasErrors() {
			continue
		}
		t.modules++
		child := t.newModuleBlock(b, c, dir)
		_, d = t.decode(child, bodies)
		diags = append(diags, d...)
		diags = append(diags, child.checkInputs()...)
		b.Children[name] = child
		diags = append(diags, t.loadModules(child)...)
	}
	return diags
}

func (t *Tree) newModuleBlock(parent *Module, c *Call, dir string) *Module {
	b := &Module{Parent: parent, Call: c, Dir: dir, declarations: newDeclarations(), Children: map[string]*Module{}}
	b.Functions = t.Set.FunctionSet(t.Set.Reads.Inside(dir), false)
	if parent != nil {
		b.Path = parent.Called("module." + c.Name)
	}
	return b
}

// tooManyModules returns an error for a module that calls itself, also through
// others, and beyond the limits on modules.
func (t *Tree) tooManyModules(b *Module, c *Call, dir string) *hcl.Diagnostic {
	at := c.Attrs["source"].Expr.Range()
	depth := 0
	chain := fmt.Sprintf("\n  module %q (%s:%d) is %s", c.Name, at.Filename, at.Start.Line, t.Set.Shown(dir))
	for up := b; up != nil; up = up.Parent {
		if up.Call != nil {
			s := up.Call.Attrs["source"].Expr.Range()
			chain = fmt.Sprintf("\n  module %q (%s:%d) is %s", up.Call.Name, s.Filename, s.Start.Line, t.Set.Shown(up.Dir)) + chain
		}
		if up.Dir == dir {
			return source.Failure(at, "A module that calls itself", "%s would be needed to read itself, without end:%s\nRemove one of "+
				"these module blocks.", t.Set.Shown(dir), chain)
		}
		depth++
	}
	if depth > maxModuleDepth {
		return limits.Exceeded(at, "modules inside each other", maxModuleDepth)
	}
	if t.modules >= maxModules {
		return limits.Exceeded(at, "module blocks, counted along every way that leads to them,", maxModules)
	}
	return nil
}

// checkInputs checks the variables that a module block sets against those that the module declares.
func (b *Module) checkInputs() hcl.Diagnostics {
	var diags hcl.Diagnostics
	misspelt := map[string]bool{} // variables that got no value because of a misspelt name, which is reported
	for _, name := range b.Call.Inputs() {
		if text := schema.ModuleHint(name); text != "" && b.Variables[name] == nil {
			diags = append(diags, source.Failure(b.Call.Attrs[name].NameRange, "Unknown variable of a module",
				"The module %q has no variable %q. %s", b.Call.Name, name, text))
			continue
		}
		if b.Variables[name] == nil {
			misspelt[words.Nearest(name, slices.Sorted(maps.Keys(b.Variables)))] = true
			diags = append(diags, source.Failure(b.Call.Attrs[name].NameRange, "Unknown variable of a module",
				"The module %q has no variable %q: %s.%s Declare it in the module with a variable block, or correct the name.",
				b.Call.Name, name, words.ThereAre(slices.Sorted(maps.Keys(b.Variables))), words.DidYouMean(name,
					append(slices.Sorted(maps.Keys(b.Variables)), metaArguments...))))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.Variables)) {
		v := b.Variables[name]
		if b.Call.Attrs[name] == nil && v.Attrs["default"] == nil && !misspelt[name] {
			diags = append(diags, source.Failure(b.Call.At, "A variable of a module has no value",
				"The module needs a value for its variable %q (%s:%d), which has no default. Add it to this block: %s = VALUE.",
				name, v.At.Filename, v.At.Start.Line, name))
		}
		if slices.Contains(metaArguments, name) {
			diags = append(diags, source.Failure(v.At, "Reserved name",
				"%q is an argument of every module block, so that a variable of a module cannot have this name. Rename it.", name))
		}
	}
	return diags
}

// Root returns the root manifest.
func (b *Module) Root() *Module {
	for b.Parent != nil {
		b = b.Parent
	}
	return b
}
