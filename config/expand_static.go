package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// evaluateStatic evaluates all of a module that must be known before any resource
// is looked at: variables and locals that need none, types, plugs, and resources
// but for their configs.
func (m *instances) evaluateStatic(e *evaluator, mod *module) hcl.Diagnostics {
	var diags hcl.Diagnostics
	b := mod.block
	for _, name := range slices.Sorted(maps.Keys(b.variables)) {
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
	for _, name := range slices.Sorted(maps.Keys(b.locals)) {
		if l := b.locals[name]; !l.dynamic && !l.wrong {
			v, d := e.local(name, mod)
			diags = append(diags, d...)
			mod.locals[name] = v
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.types)) {
		s, d := m.settings(b.types[name], mod)
		mod.settings[b.types[name]], diags = s, append(diags, d...)
	}
	if mod.caller == nil {
		for _, name := range slices.Sorted(maps.Keys(b.plugs)) {
			p, d := m.plug(b.plugs[name])
			m.plugs, diags = append(m.plugs, p), append(diags, d...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(mod.resources)) {
		diags = append(diags, m.fillAll(mod.resources[name])...)
	}
	return diags
}

// attrReader reads attributes one after the other.
type attrReader struct {
	m     *modules
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
func (m *instances) plug(b *block) (Plug, hcl.Diagnostics) {
	p := Plug{Name: b.name, Range: fromHCL(b.at)}
	a := attrReader{m: m.modules, attrs: b.attrs, of: "a plug", at: m.top.site()}
	a.read("path", cty.String, func(v cty.Value) (err error) { p.Path, err = m.hostPath(v.AsString()); return err })
	a.read("read_only", cty.Bool, func(v cty.Value) error { p.ReadOnly = v.True(); return nil })
	a.read("resource_names", cty.List(cty.String), func(v cty.Value) (err error) { p.ResourceNames, err = patterns(v); return err })
	a.read("resource_types", cty.List(cty.String), func(v cty.Value) (err error) { p.ResourceTypes, err = patterns(v); return err })
	return p, a.diags
}

// hostPath makes a path absolute. Relative ones begin at the working directory.
func (m *instances) hostPath(path string) (string, error) {
	if path == "" {
		return "", fmt.Errorf("the path is empty")
	}
	if path == "~" || strings.HasPrefix(path, "~/") {
		if m.set.builtins.Home == "" {
			return "", fmt.Errorf("%q begins with ~, and there is no home directory: set HOME, or write the path out", path)
		}
		return filepath.Join(m.set.builtins.Home, path[1:]), nil
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	return filepath.Join(m.set.src.Workspace, path), nil
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
func (m *instances) fillAll(s *resourceSet) hcl.Diagnostics {
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
func (m *instances) toldApart(r *resource) bool {
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
		for _, ref := range m.refs.references(a.Expr) {
			if root := ref.t.RootName(); root == "each" || root == "count" {
				return true
			}
		}
	}
	return false
}

// fill completes a resource.
func (m *instances) fill(r *instance) hcl.Diagnostics {
	d := r.block
	at := r.site()
	a := attrReader{m: m.modules, attrs: d.attrs, of: "a resource", at: at}
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
