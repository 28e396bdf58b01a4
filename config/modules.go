package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty/function"

	"deployster/config/limits"
)

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
	for _, name := range sortedKeys(c.attrs) {
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
func (m *Manifest) decode(b *moduleBlock, bodies []hcl.Body) (*loader, hcl.Diagnostics) {
	l := &loader{m: m, b: b}
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
	for _, name := range sortedKeys(l.b.plugs) {
		l.add(failure(l.b.plugs[name].at, "A plug in a module", "A plug gives away a file of this host, so that only the root manifest may declare one. Move it there; its allow-lists can name the resources of this module."))
	}
	for _, attrs := range l.settings {
		if a := attrs["state"]; a != nil {
			l.add(failure(a.NameRange, "A state file in a module", "A module has no state of its own: only the root manifest says where the state file is. Remove it here."))
		}
	}
	l.add(l.m.checkVersion(l)...)
}

// loadModules reads and decodes what the module blocks of b call.
func (m *Manifest) loadModules(b *moduleBlock) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range sortedKeys(b.calls) {
		c := b.calls[name]
		source, problem := m.moduleSource(c)
		if problem != nil {
			diags = append(diags, problem)
			continue
		}
		dir := source
		if problem := m.tooManyModules(b, c, dir); problem != nil {
			return append(diags, problem)
		}
		bodies, d := m.moduleBodies(dir, c.attrs["source"].Expr.Range())
		if diags = append(diags, d...); d.HasErrors() {
			continue
		}
		m.modules++
		child := m.newModuleBlock(b, c, dir)
		_, d = m.decode(child, bodies)
		diags = append(diags, d...)
		diags = append(diags, child.checkInputs()...)
		b.children[name] = child
		diags = append(diags, m.loadModules(child)...)
	}
	return diags
}

func (m *Manifest) newModuleBlock(parent *moduleBlock, c *call, dir string) *moduleBlock {
	b := &moduleBlock{parent: parent, call: c, dir: dir, declarations: newDeclarations(), children: map[string]*moduleBlock{}}
	b.functions = m.functionSet(m.reads.inside(dir), false)
	if parent != nil {
		b.path = parent.called("module." + c.name)
	}
	return b
}

// moduleSource gives the directory that a module block names.
func (m *Manifest) moduleSource(c *call) (string, *hcl.Diagnostic) {
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
		dir = filepath.Join(m.src.Workspace, dir)
	}
	return filepath.Join(dir, source), nil
}

// tooManyModules refuses a module that calls itself, also through others, and
// what would never end.
func (m *Manifest) tooManyModules(b *moduleBlock, c *call, dir string) *hcl.Diagnostic {
	at := c.attrs["source"].Expr.Range()
	depth := 0
	chain := fmt.Sprintf("\n  module %q (%s:%d) is %s", c.name, at.Filename, at.Start.Line, m.shown(dir))
	for up := b; up != nil; up = up.parent {
		if up.call != nil {
			s := up.call.attrs["source"].Expr.Range()
			chain = fmt.Sprintf("\n  module %q (%s:%d) is %s", up.call.name, s.Filename, s.Start.Line, m.shown(up.dir)) + chain
		}
		if up.dir == dir {
			return failure(at, "A module that calls itself", "%s would be needed to read itself, without end:%s\nRemove one of these module blocks.", m.shown(dir), chain)
		}
		depth++
	}
	if depth > maxModuleDepth {
		return limits.Exceeded(at, "modules inside each other", maxModuleDepth)
	}
	if m.modules >= maxModules {
		return limits.Exceeded(at, "module blocks, counted along every way that leads to them,", maxModules)
	}
	return nil
}

// shown writes a directory as the user would.
func (m *Manifest) shown(dir string) string {
	if rel, err := filepath.Rel(m.src.Workspace, dir); err == nil {
		return rel
	}
	return dir
}

// moduleBodies parses the files of a module's directory, once.
func (m *Manifest) moduleBodies(dir string, at hcl.Range) ([]hcl.Body, hcl.Diagnostics) {
	if bodies, ok := m.bodies[dir]; ok {
		return bodies, nil
	}
	files, problem := m.moduleFiles(dir, at)
	if problem != nil {
		return nil, hcl.Diagnostics{problem}
	}
	bodies, diags := m.parse(files)
	if !diags.HasErrors() {
		m.bodies[dir] = bodies
	}
	return bodies, diags
}

// moduleFiles reads the files of a module, or takes them from the sources that
// came with a plan.
func (m *Manifest) moduleFiles(dir string, at hcl.Range) ([]File, *hcl.Diagnostic) {
	rel := m.shown(dir)
	if files, ok := m.src.Modules[rel]; ok {
		return files, nil
	}
	if m.src.Replay {
		return nil, failure(at, "The module is not in the plan", "The directory %s was not read when the plan was made, so it is not in it. Make the plan again.", rel)
	}
	f := finder{workspace: m.src.Workspace, seen: map[string]bool{}}
	f.directory(rel)
	if len(f.diags) > 0 {
		return nil, failure(at, "Unreadable module", "%s", f.diags[0].Detail)
	}
	if len(f.files) == 0 {
		return nil, failure(at, "No manifest", "There is no manifest in the directory %s: no file whose name ends in .hcl or .hcl.json. Correct the source, or write the module.", rel)
	}
	m.src.Modules[rel] = f.files
	return f.files, nil
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
				b.call.name, name, oneOf(sortedKeys(b.variables)), suggest(name, append(sortedKeys(b.variables), metaArguments...))))
		}
	}
	for _, name := range sortedKeys(b.variables) {
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
