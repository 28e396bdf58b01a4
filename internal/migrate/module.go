package migrate

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"

	"deployster/internal/base/diag"
	"deployster/internal/migrate/layout"
	"deployster/internal/migrate/tffiles"
	"deployster/internal/migrate/tfrefs"
)

// module is the directory of a Terraform module.
type module struct {
	*findings
	run *migration
	dir string // the directory itself
	out string // its path below the new directory

	files     []*file
	names     map[tfrefs.Key]string // of all resources that are declared, moved or removed
	resources map[tfrefs.Key]*hclsyntax.Block
	calls     map[string]*call
	sources   map[string]string           // of providers, by their names
	providers map[string]*hclsyntax.Block // by name or name.alias
	needs     map[string]bool             // providers whose config it gets from its callers, by name or name.alias
	values    map[string]bool             // its own providers whose config it passes to modules, by name or name.alias
	locals    map[string]hclsyntax.Expression
	renames   map[string]string // of variable.NAME, output.NAME and the like whose names are not valid here
	waits     map[string]bool   // variables that a depends_on in it refers to
	callers   []caller
	found     bool // findProviders has set needs
	inOne     bool // it refers to terraform.workspace, itself or in modules that it calls
}

// file is one file with its text, which has the comments.
type file struct {
	name string // below the root module
	text []byte
	body *hclsyntax.Body
}

// call is a module block.
type call struct {
	block  *hclsyntax.Block
	module *module
}

// load reads a module and the modules that it calls; out is its new path.
func (m *migration) load(dir, out string) *module {
	if known := m.modules[dir]; known != nil {
		return known
	}
	d := &module{findings: m.findings, run: m, dir: dir, out: out,
		names: map[tfrefs.Key]string{}, resources: map[tfrefs.Key]*hclsyntax.Block{},
		calls: map[string]*call{}, sources: map[string]string{}, providers: map[string]*hclsyntax.Block{}, needs: map[string]bool{},
		values: map[string]bool{}, locals: map[string]hclsyntax.Expression{}, renames: map[string]string{}, waits: map[string]bool{}}
	m.modules[dir] = d
	entries, err := os.ReadDir(dir)
	if err != nil {
		m.problems = append(m.problems, diag.Errorf("Cannot read the configuration", "%s.", err))
		return nil
	}
	for _, e := range entries {
		switch {
		case e.IsDir():
		case strings.HasSuffix(e.Name(), ".tf"), strings.HasSuffix(e.Name(), ".tf.json"):
			d.read(e.Name())
		}
	}
	if len(d.files) == 0 && !m.problems.HasErrors() {
		m.problems = append(m.problems, diag.Errorf("There is no configuration", "%s has no file that ends in .tf or .tf.json.", dir))
		return nil
	}
	for _, f := range d.files {
		for _, b := range f.body.Blocks {
			d.declare(b)
		}
	}
	d.nameAll()
	d.renameAll()
	for _, name := range slices.Sorted(maps.Keys(d.calls)) {
		c := d.calls[name]
		if from, to, ok := d.find(name, c.block); ok {
			c.module = m.load(from, to)
		}
	}
	return d
}

func (d *module) read(name string) {
	shown := name
	if rel, err := filepath.Rel(d.run.dir, filepath.Join(d.dir, name)); err == nil {
		shown = rel
	}
	text, err := os.ReadFile(filepath.Join(d.dir, name))
	if err != nil {
		d.refuse(hcl.Range{}, "Cannot read the configuration", "%s.", err)
		return
	}
	if strings.HasSuffix(name, ".json") {
		if text, err = tffiles.Native(text); err != nil {
			d.refuse(hcl.Range{}, "Cannot read the configuration", "%s: %s.", shown, err)
			return
		}
	}
	if body := d.parse(text, shown); body != nil {
		d.files = append(d.files, &file{shown, text, body})
	}
}

// declare records what a block declares.
func (d *module) declare(b *hclsyntax.Block) {
	switch {
	case (b.Type == "resource" || b.Type == "data") && len(b.Labels) == 2:
		if k := tfrefs.KeyOf(b); !tfrefs.IsRemote(k) {
			d.resources[k], d.names[k] = b, ""
		}
	case b.Type == "locals":
		for name, a := range b.Body.Attributes {
			d.locals[name] = a.Expr
		}
	case b.Type == "module" && len(b.Labels) == 1:
		d.calls[b.Labels[0]] = &call{block: b}
	case b.Type == "provider" && len(b.Labels) == 1:
		name := b.Labels[0]
		if alias := b.Body.Attributes["alias"]; alias != nil {
			if v, diags := alias.Expr.Value(nil); !diags.HasErrors() {
				name += "." + v.AsString()
			}
		}
		d.providers[name] = b
		if len(configItems(b.Body)) > 0 {
			d.run.configured[b.Labels[0]] = true
		}
	case b.Type == "terraform":
		for _, r := range b.Body.Blocks {
			if r.Type == "required_providers" {
				d.require(r)
			}
		}
	case b.Type == "moved", b.Type == "removed":
		for _, end := range []string{"from", "to"} {
			if a := b.Body.Attributes[end]; a != nil {
				if steps, k, _, ok := tfrefs.Address(a.Expr); ok && len(steps) == 0 && k.Kind != "" {
					d.names[k] = ""
				}
			}
		}
	}
}

// require records the sources of providers.
func (d *module) require(b *hclsyntax.Block) {
	for name, a := range b.Body.Attributes {
		pairs, diags := hcl.ExprMap(a.Expr)
		if diags.HasErrors() {
			continue // a bare version
		}
		for _, p := range pairs {
			if hcl.ExprAsKeyword(p.Key) == "source" {
				if v, diags := p.Value.Value(nil); !diags.HasErrors() {
					d.sources[name] = v.AsString()
				}
			}
		}
	}
}

// nameAll gives each resource a unique name: its present one, if no other resource has it.
func (d *module) nameAll() {
	count := map[string]int{}
	for k := range d.names {
		count[tfrefs.Clean(k.Name)]++
	}
	taken := map[string]bool{}
	for _, k := range slices.SortedFunc(maps.Keys(d.names), tfrefs.Compare) {
		own := tfrefs.Clean(k.Name)
		name := own
		if count[name] > 1 {
			_, short, _ := strings.Cut(k.Kind, "_")
			if name = tfrefs.Clean(short) + "_" + own; k.Data {
				name = "data_" + name
			}
		}
		name = tfrefs.Free(name, func(name string) bool { return taken[name] || name != own && count[name] > 0 })
		taken[name], d.names[k] = true, name
	}
}

// find returns the directory of a called module, and its new path.
func (d *module) find(name string, b *hclsyntax.Block) (from, to string, ok bool) {
	a := b.Body.Attributes["source"]
	if a == nil {
		d.refuse(b.DefRange(), "A module without a source", "module %q has none.", name)
		return "", "", false
	}
	v, diags := a.Expr.Value(nil)
	if diags.HasErrors() {
		d.refuse(a.SrcRange, "A source that is computed", "The source of module %q is not a text constant.", name)
		return "", "", false
	}
	source := v.AsString()
	from = filepath.Join(d.dir, source)
	if !strings.HasPrefix(source, "./") && !strings.HasPrefix(source, "../") {
		if from, ok = tffiles.Installed(d.run.dir, d.dir, name); !ok {
			d.refuse(a.SrcRange, "Module not downloaded",
				"module %q comes from %s, and is not in .terraform/modules: run `terraform init` first.", name, source)
			return "", "", false
		}
	}
	rel, err := filepath.Rel(d.run.dir, from)
	if err == nil && filepath.IsLocal(rel) && !strings.HasPrefix(rel, ".terraform") {
		return from, filepath.ToSlash(rel), true
	}
	to = path.Join("modules", name)
	for i := 2; d.run.goesTo(to, from); i++ {
		to = fmt.Sprintf("modules/%s_%d", name, i)
	}
	d.run.vendored[to] = a.SrcRange
	return from, to, true
}

// goesTo reports whether the path is taken: by another module, or by a file that exists.
func (m *migration) goesTo(to, from string) bool {
	for _, d := range m.modules {
		if d.out == to && d.dir != from {
			return true
		}
	}
	_, err := os.Lstat(filepath.Join(m.dir, to))
	return err == nil
}

// write writes the manifests of a module.
func (d *module) write() {
	for _, f := range d.files {
		var b strings.Builder
		all, rest := layout.Items(f.text, f.body)
		for _, it := range all {
			e := &emitter{findings: d.findings, module: d, file: f}
			if text := e.top(it.Block); text != "" {
				b.WriteString(it.Lead + text + it.Trail + "\n\n")
			} else {
				b.WriteString(it.Lead)
			}
		}
		b.WriteString(rest)
		name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(f.name), ".json"), ".tf") + ".hcl"
		text, places := layout.Unmark(strings.TrimSpace(b.String()) + "\n")
		if d.run.result.Files[path.Join(d.out, name)] != nil { // a file that is not in JSON has the same name
			name = strings.TrimSuffix(name, ".hcl") + "-json.hcl"
		}
		if name == "types.hcl" && d.out == "." {
			name = "types-of-terraform.hcl"
		}
		if strings.TrimSpace(text) != "" {
			d.run.add(path.Join(d.out, name), text)
			d.run.origins[path.Join(d.out, name)] = placed{f.name, places}
		}
	}
	if len(d.needs) == 0 && !d.inOne || d.out == "." {
		return
	}
	var b strings.Builder
	if d.inOne {
		fmt.Fprintf(&b, "variable %q {}\n", workspaceName)
	}
	for _, key := range slices.Sorted(maps.Keys(d.needs)) {
		fmt.Fprintf(&b, "variable %q {}\n", providerName(key))
	}
	name := "providers.hcl"
	for d.run.result.Files[path.Join(d.out, name)] != nil {
		name = "more-" + name
	}
	d.run.add(path.Join(d.out, name), b.String())
}

func format(text string) []byte { return hclwrite.Format([]byte(text)) }
