package migrate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/internal/migrate/tfrefs"
)

// renameAll gives new names to the variables, outputs, modules and checks whose names are not valid here.
func (d *module) renameAll() {
	known := map[string]map[string]bool{}
	for _, f := range d.files {
		for _, b := range f.body.Blocks {
			if !slices.Contains([]string{"variable", "output", "module", "check"}, b.Type) || len(b.Labels) != 1 {
				continue
			}
			if known[b.Type] == nil {
				known[b.Type] = map[string]bool{}
			}
			known[b.Type][b.Labels[0]] = true
		}
	}
	for kind, names := range known {
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if to := tfrefs.Clean(name); to != name {
				to = tfrefs.Free(to, func(name string) bool { return names[name] })
				names[to], d.renames[kind+"."+name] = true, to
			}
		}
	}
}

// called returns the new name of a variable, an output, a module or a check.
func (d *module) called(kind, name string) string {
	if to := d.renames[kind+"."+name]; to != "" {
		return to
	}
	return name
}

func (d *module) variable(name string) string { return d.called("variable", name) }

// renamed returns the new name of a block, and adds a note if it has another than before.
func (e *emitter) renamed(b *hclsyntax.Block) string {
	old := b.Labels[0]
	name := e.module.called(b.Type, old)
	if name != old {
		e.noteName(b, old, name)
	}
	return name
}

func (e *emitter) noteName(b *hclsyntax.Block, old, name string) {
	set := ""
	if b.Type == "variable" && e.module.out == "." {
		set = fmt.Sprintf("; set it with -var %s=VALUE or DEPLOYSTER_VAR_%[1]s", name)
	}
	e.note(b.DefRange(), "the %s %q is called %q here: a name begins with a letter from a to z, and has such letters, digits, _ and - "+
		"only%s",
		b.Type, old, name, set)
}

// newPath returns the path of a module, module.A["k"], with the new names.
func (d *module) newPath(steps []string) []string {
	var out []string
	for _, step := range steps {
		name, key, keyed := strings.Cut(strings.TrimPrefix(step, "module."), "[")
		to := tfrefs.Clean(name)
		if d != nil && d.calls[name] != nil {
			to = d.called("module", name)
		}
		if d = d.under([]string{step}); keyed {
			to += "[" + key
		}
		out = append(out, "module."+to)
	}
	return out
}

// moduleNames renames the steps module.NAME and module.NAME.OUTPUT of a reference.
func (r *rewriter) moduleNames(t hcl.Traversal) {
	c := r.e.module.moduleOf(t)
	if c == nil {
		return
	}
	if to, old := r.e.module.called("module", tfrefs.Step(t[1])), tfrefs.Step(t[1]); to != old {
		r.edits.Replace(t[1].SourceRange(), "."+to)
	}
	rest := t[2:]
	if len(rest) > 0 {
		if _, index := rest[0].(hcl.TraverseIndex); index {
			rest = rest[1:]
		}
	}
	r.output(c, rest)
}

// output renames the output of a module that a traversal begins with.
func (r *rewriter) output(c *call, t hcl.Traversal) {
	if c == nil || c.module == nil || len(t) == 0 {
		return
	}
	if old := tfrefs.Step(t[0]); c.module.called("output", old) != old {
		r.edits.Replace(t[0].SourceRange(), "."+c.module.called("output", old))
	}
}

// moduleOf returns the call that a reference module.NAME names.
func (d *module) moduleOf(t hcl.Traversal) *call {
	if t.IsRelative() || t.RootName() != "module" || len(t) < 2 {
		return nil
	}
	return d.calls[tfrefs.Step(t[1])]
}

// moduleIn returns the call if an expression is module.NAME, or an instance of it.
func (d *module) moduleIn(x hclsyntax.Expression) *call {
	if index, ok := x.(*hclsyntax.IndexExpr); ok {
		x = index.Collection
	}
	if t, ok := x.(*hclsyntax.ScopeTraversalExpr); ok && len(t.Traversal) == 2 {
		return d.moduleOf(t.Traversal)
	}
	return nil
}
