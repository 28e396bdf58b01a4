package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty/function"

	"deployster/config/limits"
)

// all are a module and those that it calls, as written, callers first.
func (b *moduleBlock) all() []*moduleBlock {
	all := []*moduleBlock{b}
	for i := 0; i < len(all); i++ {
		for _, name := range slices.Sorted(maps.Keys(all[i].children)) {
			all = append(all, all[i].children[name])
		}
	}
	return all
}

// outputsOf are the outputs of a module that a reference may read.
func outputsOf(ref reference, child *moduleBlock) []string {
	steps := ref.t[2:]
	if ref.key != nil || ref.splat {
		steps = ref.rest
	} else if child.call.repeats() && len(steps) > 0 {
		if _, index := steps[0].(hcl.TraverseIndex); index {
			steps = steps[1:]
		}
	}
	if len(steps) > 0 && child.outputs[objectKey(steps[0])] != nil {
		return []string{objectKey(steps[0])}
	}
	return slices.Sorted(maps.Keys(child.outputs))
}

// The limits on modules. Two calls on each of twenty levels would be a million.
const (
	maxModuleDepth = 16
	maxModules     = 2000 // module blocks, counted along every way that leads to them
)

// moduleBlock is a module as it is written: the root manifest, or what one
// module block calls. The blocks of a directory that is called twice are decoded
// twice, so that each has its own.
type moduleBlock struct {
	path   string       // how messages call it: "" for the root, else "module.web.module.disk"
	parent *moduleBlock // nil for the root
	call   *call        // nil for the root
	dir    string       // absolute
	declarations
	children  map[string]*moduleBlock // those whose source could be read
	functions map[string]function.Function
}

// call is a module block.
type call struct {
	block
	dependsOn []dependency
}

// metaArguments are the arguments of a module block that are no variables.
var metaArguments = []string{"source", "for_each", "count", "depends_on"}

// inputs are the names of the variables that a module block sets, sorted.
func (c *call) inputs() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(c.attrs)) {
		if !slices.Contains(metaArguments, name) {
			names = append(names, name)
		}
	}
	return names
}

// called says a thing of this module as messages do: "module.web.local.zone".
func (b *moduleBlock) called(what string) string {
	if b.path == "" {
		return what
	}
	return b.path + "." + what
}

// typeNames are the types that can be used in the module.
func (b *moduleBlock) typeNames() map[string]*block {
	if b.parent == nil {
		return b.types
	}
	all := map[string]*block{}
	for ; b != nil; b = b.parent {
		for name, t := range b.types {
			if all[name] == nil {
				all[name] = t
			}
		}
	}
	return all
}

// call decodes a module block.
func (l *loader) call(b *hcl.Block) {
	c := &call{block: l.header(b)}
	var diags hcl.Diagnostics
	c.attrs, diags = b.Body.JustAttributes()
	for _, d := range diags {
		d.Detail += " A module block has source, for_each, count, depends_on, and NAME = VALUE for the module's variables."
	}
	l.add(diags...)
	l.oneOf(c.attrs)
	if first := l.b.calls[c.name]; first != nil {
		l.add(twice("module", c.name, first.at, c.at))
		return
	}
	l.b.calls[c.name] = c
}

// oneOf refuses for_each beside count.
func (l *loader) oneOf(attrs hcl.Attributes) {
	if f, c := attrs["for_each"], attrs["count"]; f != nil && c != nil {
		l.add(failure(c.NameRange, "Both for_each and count", "Each of them says how many instances there are, so only one can be there. for_each at line %d gives every instance a name of its own, which is what to prefer.", f.NameRange.Start.Line))
	}
}

// decode reads the blocks of a module, and of the modules that it calls.
func (t *declTree) decode(b *moduleBlock, bodies []hcl.Body) (*loader, hcl.Diagnostics) {
	l := &loader{t: t, b: b}
	for _, body := range bodies {
		l.root(body)
	}
	if b.parent != nil {
		l.childOnly()
	}
	return l, l.diags
}

// childOnly refuses what belongs into the root manifest.
func (l *loader) childOnly() {
	for _, name := range slices.Sorted(maps.Keys(l.b.plugs)) {
		l.add(failure(l.b.plugs[name].at, "A plug in a module", "A plug gives away a file of this host, so that only the root manifest may declare one. Move it there; its allow-lists can name the resources of this module."))
	}
	for _, attrs := range l.settings {
		if a := attrs["state"]; a != nil {
			l.add(failure(a.NameRange, "A state file in a module", "A module has no state of its own: only the root manifest says where the state file is. Remove it here."))
		}
	}
	l.add(l.t.checkVersion(l)...)
}

// loadModules reads and decodes what the module blocks of b call.
func (t *declTree) loadModules(b *moduleBlock) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range slices.Sorted(maps.Keys(b.calls)) {
		c := b.calls[name]
		source, problem := t.moduleSource(c)
		if problem != nil {
			diags = append(diags, problem)
			continue
		}
		dir := source
		if problem := t.tooManyModules(b, c, dir); problem != nil {
			return append(diags, problem)
		}
		bodies, d := t.set.moduleBodies(dir, c.attrs["source"].Expr.Range())
		if diags = append(diags, d...); d.HasErrors() {
			continue
		}
		t.modules++
		child := t.newModuleBlock(b, c, dir)
		_, d = t.decode(child, bodies)
		diags = append(diags, d...)
		diags = append(diags, child.checkInputs()...)
		b.children[name] = child
		diags = append(diags, t.loadModules(child)...)
	}
	return diags
}

func (t *declTree) newModuleBlock(parent *moduleBlock, c *call, dir string) *moduleBlock {
	b := &moduleBlock{parent: parent, call: c, dir: dir, declarations: newDeclarations(), children: map[string]*moduleBlock{}}
	b.functions = t.set.functionSet(t.set.reads.inside(dir), false)
	if parent != nil {
		b.path = parent.called("module." + c.name)
	}
	return b
}

// moduleSource gives the directory that a module block names.
func (t *declTree) moduleSource(c *call) (string, *hcl.Diagnostic) {
	a := c.attrs["source"]
	if a == nil {
		return "", failure(c.at, "A module without source", "A module block says where the module is: source = \"./DIRECTORY\".")
	}
	source, ok := constantText(a.Expr)
	if !ok {
		return "", failure(a.Expr.Range(), "Not a constant", "The source of a module must be a text constant in quotes, because it is read before anything is evaluated.")
	}
	at := a.Expr.Range()
	switch {
	case filepath.IsAbs(source):
		return "", failure(at, "Invalid module source", "%q is an absolute path, which would be another one on every machine. Write the path from this file: \"./DIRECTORY\" or \"../DIRECTORY\".", source)
	case source == ".", source == "..", strings.HasPrefix(source, "./"), strings.HasPrefix(source, "../"):
	case strings.Contains(source, ":") || strings.Count(source, "/") > 1 || strings.Contains(strings.Split(source, "/")[0], "."):
		return "", failure(at, "Invalid module source", "%q looks like an address of a registry or a repository. Modules are directories of this machine: fetch it with the tool for that (git clone, git submodule), and write \"./DIRECTORY\".", source)
	default:
		return "", failure(at, "Invalid module source", "A module is a directory, written from this file on with ./ or ../ at the beginning. Did you mean %q?", "./"+source)
	}
	if strings.ContainsRune(source, 0) {
		return "", failure(at, "Invalid module source", "A path has no null byte.")
	}
	dir := filepath.Dir(a.Range.Filename)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(t.set.src.Workspace, dir)
	}
	return filepath.Join(dir, source), nil
}

// tooManyModules refuses a module that calls itself, also through others, and
// what would never end.
func (t *declTree) tooManyModules(b *moduleBlock, c *call, dir string) *hcl.Diagnostic {
	at := c.attrs["source"].Expr.Range()
	depth := 0
	chain := fmt.Sprintf("\n  module %q (%s:%d) is %s", c.name, at.Filename, at.Start.Line, t.set.shown(dir))
	for up := b; up != nil; up = up.parent {
		if up.call != nil {
			s := up.call.attrs["source"].Expr.Range()
			chain = fmt.Sprintf("\n  module %q (%s:%d) is %s", up.call.name, s.Filename, s.Start.Line, t.set.shown(up.dir)) + chain
		}
		if up.dir == dir {
			return failure(at, "A module that calls itself", "%s would be needed to read itself, without end:%s\nRemove one of these module blocks.", t.set.shown(dir), chain)
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

// checkInputs compares what a module block gives with what the module wants.
func (b *moduleBlock) checkInputs() hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range b.call.inputs() {
		if text := moduleHabits[name]; text != "" && b.variables[name] == nil {
			diags = append(diags, failure(b.call.attrs[name].NameRange, "Unknown variable of a module", "The module %q has no variable %q. %s", b.call.name, name, text))
			continue
		}
		if b.variables[name] == nil {
			diags = append(diags, failure(b.call.attrs[name].NameRange, "Unknown variable of a module", "The module %q has no variable %q: %s.%s Declare it in the module with a variable block, or correct the name.",
				b.call.name, name, oneOf(slices.Sorted(maps.Keys(b.variables))), suggest(name, append(slices.Sorted(maps.Keys(b.variables)), metaArguments...))))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.variables)) {
		v := b.variables[name]
		if b.call.attrs[name] == nil && v.attrs["default"] == nil {
			diags = append(diags, failure(b.call.at, "A variable of a module has no value", "The module needs a value for its variable %q (%s:%d), which has no default. Add it to this block: %s = VALUE.",
				name, v.at.Filename, v.at.Start.Line, name))
		}
		if slices.Contains(metaArguments, name) {
			diags = append(diags, failure(v.at, "Reserved name", "%q is an argument of every module block, so that a variable of a module cannot have this name. Rename it.", name))
		}
	}
	return diags
}

// root is the root manifest.
func (b *moduleBlock) root() *moduleBlock {
	for b.parent != nil {
		b = b.parent
	}
	return b
}
