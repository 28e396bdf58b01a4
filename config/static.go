package config

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	version "github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// typeMark rides on the image of type.NAME to where a resource uses it, so that
// the type's settings are found whatever expression it went through.
type typeMark struct {
	block *block
	mod   *module // which declares it
}

// evaluateStatic evaluates all of a module that must be known before any resource
// is looked at: variables and locals that need none, types, plugs, and resources
// but for their configs.
func (m *Manifest) evaluateStatic(e *evaluator, mod *module) hcl.Diagnostics {
	var diags hcl.Diagnostics
	b := mod.block
	for _, name := range sortedKeys(b.variables) {
		if mod.caller == nil || b.variables[name].dynamic {
			continue
		}
		v, d := e.variable(name, mod)
		diags = append(diags, d...)
		mod.vars[name] = v
	}
	for name, l := range b.locals {
		if l.wrong {
			mod.locals[name] = known{value: cty.DynamicVal}
		}
	}
	for _, name := range sortedKeys(b.locals) {
		if l := b.locals[name]; !l.dynamic && !l.wrong {
			v, d := e.local(name, mod)
			diags = append(diags, d...)
			mod.locals[name] = v
		}
	}
	for _, name := range sortedKeys(b.types) {
		s, d := m.settings(b.types[name], mod)
		mod.settings[b.types[name]], diags = s, append(diags, d...)
	}
	if mod.caller == nil {
		for _, name := range sortedKeys(b.plugs) {
			p, d := m.plug(b.plugs[name])
			m.plugs, diags = append(m.plugs, p), append(diags, d...)
		}
	}
	for _, name := range sortedKeys(mod.resources) {
		diags = append(diags, m.fillAll(mod.resources[name])...)
	}
	return diags
}

// staticValue evaluates an expression that may use no resource.
func (m *Manifest) staticValue(expr hcl.Expression, want cty.Type, at site) (cty.Value, hcl.Diagnostics) {
	return m.staticAt(expr, want, place{what: "this value", static: true}, at)
}

func (m *Manifest) staticAt(expr hcl.Expression, want cty.Type, p place, at site) (cty.Value, hcl.Diagnostics) {
	if at.res != nil {
		p.repeated = &at.res.block.block
	}
	if diags := m.checkRefs(expr, p, at.mod.block, nil); diags.HasErrors() {
		return cty.NilVal, diags
	}
	e := m.evaluator(nil)
	e.markTypes = p.types
	v, diags := e.value(expr, at)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	if usesEachValue(m.references(expr)) && !v.IsWhollyKnown() && at.at.of != nil {
		return cty.NilVal, hcl.Diagnostics{failure(expr.Range(), "Known too late", "each.value is made of a resource here, and %s must be known before any resource is looked at. Use each.key, variables and constants.", p.what)}
	}
	return convertTo(v, want, expr.Range(), p.what)
}

func usesEachValue(refs []reference) bool {
	for _, ref := range refs {
		if ref.t.RootName() == "each" && stepName(ref.t, 1) == "value" {
			return true
		}
	}
	return false
}

// staticAttr evaluates an attribute that must be known now. The result is
// cty.NilVal when the attribute is absent, null, in error, or not known because
// of an error elsewhere.
func (m *Manifest) staticAttr(a *hcl.Attribute, want cty.Type, what string, at site) (cty.Value, hcl.Diagnostics) {
	return m.attrAt(a, want, place{what: what, static: true}, at)
}

func (m *Manifest) attrAt(a *hcl.Attribute, want cty.Type, p place, at site) (cty.Value, hcl.Diagnostics) {
	if a == nil {
		return cty.NilVal, nil
	}
	v, diags := m.staticAt(a.Expr, want, p, at)
	if diags.HasErrors() || v.IsNull() || !v.IsWhollyKnown() {
		return cty.NilVal, diags
	}
	return v, diags
}

// optional is staticAttr for what is shown to people or steers the tool: a mark
// would be lost there, so that a sensitive value is refused.
func (m *Manifest) optional(a *hcl.Attribute, want cty.Type, what string, at site) (cty.Value, hcl.Diagnostics) {
	return m.shownAt(a, want, place{what: what, static: true}, at)
}

func (m *Manifest) shownAt(a *hcl.Attribute, want cty.Type, p place, at site) (cty.Value, hcl.Diagnostics) {
	v, diags := m.attrAt(a, want, p, at)
	if v == cty.NilVal || !v.HasMarkDeep(sensitive{}) {
		return v, diags
	}
	return cty.NilVal, append(diags, failure(a.Expr.Range(), "A sensitive value would be printed", "%s cannot be sensitive, because it is shown in plans and messages.", capital(p.what)))
}

// checkVersion compares required_version with this tool's, and reads the rest
// of the deployster blocks.
func (m *Manifest) checkVersion(l *loader) hcl.Diagnostics {
	var diags hcl.Diagnostics
	var stateAt *hcl.Attribute
	for _, attrs := range l.settings {
		for _, name := range []string{"required_version", "state"} {
			a := attrs[name]
			if a == nil {
				continue
			}
			text, ok := constantText(a.Expr)
			if !ok {
				diags = append(diags, failure(a.Expr.Range(), "Not a constant", "The value of %s must be a text constant in quotes.", name))
				continue
			}
			if name == "required_version" {
				diags = append(diags, m.requireVersion(text, a.Expr.Range())...)
				continue
			}
			if stateAt != nil {
				diags = append(diags, twice("state file", text, stateAt.Range, a.Range))
			}
			stateAt, m.statePath = a, text
		}
	}
	return diags
}

func (m *Manifest) requireVersion(constraint string, r hcl.Range) hcl.Diagnostics {
	c, err := version.NewConstraint(constraint)
	if err != nil {
		return hcl.Diagnostics{failure(r, "Invalid version constraint", "%q is not a version constraint. Write, for example, \">= 0.1\", \"~> 1.2\" or \">= 1.0, < 2.0\".", constraint)}
	}
	have, err := version.NewVersion(m.builtins.Version)
	if err != nil || c.Check(have.Core()) {
		return nil // a build without a version satisfies every constraint
	}
	return hcl.Diagnostics{failure(r, "Another version is required", "This manifest requires deployster %s, and this is %s. Install a version that fits, or change required_version.", constraint, m.builtins.Version)}
}

// attrReader reads attributes one after the other.
type attrReader struct {
	m     *Manifest
	attrs hcl.Attributes
	of    string
	at    site
	diags hcl.Diagnostics
}

func (r *attrReader) read(name string, want cty.Type, set func(cty.Value) error) {
	a := r.attrs[name]
	v, diags := r.m.optional(a, want, "the attribute "+name+" of "+r.of, r.at)
	r.diags = append(r.diags, diags...)
	if v == cty.NilVal {
		return
	}
	if err := set(v); err != nil {
		r.diags = append(r.diags, failure(a.Expr.Range(), "Invalid "+name, "%s.", capital(err.Error())))
	}
}

// plug reads one plug.
func (m *Manifest) plug(b *block) (Plug, hcl.Diagnostics) {
	p := Plug{Name: b.name, Range: fromHCL(b.at)}
	a := attrReader{m: m, attrs: b.attrs, of: "a plug", at: m.top.site()}
	a.read("path", cty.String, func(v cty.Value) (err error) { p.Path, err = m.hostPath(v.AsString()); return err })
	a.read("read_only", cty.Bool, func(v cty.Value) error { p.ReadOnly = v.True(); return nil })
	a.read("resource_names", cty.List(cty.String), func(v cty.Value) (err error) { p.ResourceNames, err = patterns(v); return err })
	a.read("resource_types", cty.List(cty.String), func(v cty.Value) (err error) { p.ResourceTypes, err = patterns(v); return err })
	return p, a.diags
}

// hostPath makes a path absolute. Relative ones begin at the working directory.
func (m *Manifest) hostPath(path string) (string, error) {
	if path == "" {
		return "", fmt.Errorf("the path is empty")
	}
	if path == "~" || strings.HasPrefix(path, "~/") {
		if m.builtins.Home == "" {
			return "", fmt.Errorf("%q begins with ~, and there is no home directory: set HOME, or write the path out", path)
		}
		return filepath.Join(m.builtins.Home, path[1:]), nil
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	return filepath.Join(m.src.Workspace, path), nil
}

func patterns(list cty.Value) ([]*regexp.Regexp, error) {
	var out []*regexp.Regexp
	for _, v := range list.AsValueSlice() {
		if v.IsNull() {
			return nil, fmt.Errorf("null is not a regular expression")
		}
		if _, err := regexp.Compile(v.AsString()); err != nil {
			return nil, fmt.Errorf("%q is not a regular expression: %s", v.AsString(), err)
		}
		out = append(out, regexp.MustCompile("^(?:"+v.AsString()+")"))
	}
	return out, nil
}

// fillAll completes the instances of a block: all alike, unless something tells
// them apart.
func (m *Manifest) fillAll(s *resourceSet) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for i := range s.list {
		r := &s.list[i]
		if i > 0 && !m.toldApart(r.block) {
			first := &s.list[0].Resource
			r.TypeRef, r.Settings, r.Timeouts = first.TypeRef, first.Settings, first.Timeouts
			r.ReadOnly, r.PreventDestroy, r.OnRemove = first.ReadOnly, first.PreventDestroy, first.OnRemove
			continue
		}
		d := m.fill(r)
		if diags = append(diags, d...); d.HasErrors() {
			return diags // the others would say the same
		}
	}
	return diags
}

// toldApart reports whether an attribute beside the config uses each or count.
func (m *Manifest) toldApart(r *resource) bool {
	if !r.repeats() {
		return false
	}
	attrs := []*hcl.Attribute{r.attrs["type"], r.attrs["read_only"]}
	for _, a := range r.lifecycle {
		attrs = append(attrs, a)
	}
	for _, a := range r.timeouts {
		attrs = append(attrs, a)
	}
	for _, a := range attrs {
		if a == nil {
			continue
		}
		for _, ref := range m.references(a.Expr) {
			if root := ref.t.RootName(); root == "each" || root == "count" {
				return true
			}
		}
	}
	return false
}

// fill completes a resource.
func (m *Manifest) fill(r *instance) hcl.Diagnostics {
	d := r.block
	at := r.site()
	a := attrReader{m: m, attrs: d.attrs, of: "a resource", at: at}
	typ, diags := m.shownAt(d.attrs["type"], cty.String, place{what: "the type of a resource", static: true, types: true}, at)
	a.diags = diags
	if typ != cty.NilVal {
		image, marks := typ.Unmark()
		r.TypeRef = image.AsString()
		for mark := range marks {
			if t, ok := mark.(typeMark); ok {
				set := t.mod.settings[t.block]
				r.Settings, r.Timeouts = set.Settings, set.timeouts
				r.Pull, r.Verify = set.pull, set.verify
			}
		}
		if err := checkImage(r.TypeRef); err != nil {
			a.diags = append(a.diags, failure(d.attrs["type"].Expr.Range(), "Invalid type", "%s.", capital(err.Error())))
		}
	}
	a.read("read_only", cty.Bool, func(v cty.Value) error { r.ReadOnly = v.True(); return nil })
	a.attrs, a.of = d.lifecycle, "a lifecycle block"
	r.OnRemove = OnRemoveDestroy
	a.read("prevent_destroy", cty.Bool, func(v cty.Value) error { r.PreventDestroy = v.True(); return nil })
	a.read("on_remove", cty.String, func(v cty.Value) error {
		r.OnRemove = OnRemove(v.AsString())
		if r.OnRemove != OnRemoveDestroy && r.OnRemove != OnRemoveForget {
			return fmt.Errorf("it is \"destroy\" or \"forget\", and not %q", v.AsString())
		}
		return nil
	})
	a.attrs, a.of = d.timeouts, "a timeouts block"
	a.read("state", cty.String, func(v cty.Value) (err error) { r.Timeouts.State, err = duration(v.AsString()); return err })
	a.read("action", cty.String, func(v cty.Value) (err error) { r.Timeouts.Action, err = duration(v.AsString()); return err })
	return a.diags
}
