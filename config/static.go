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
type typeMark struct{ name string }

// evaluateStatic evaluates all that must be known before any resource is looked
// at: locals that need none, types, plugs, and resources but for their configs.
func (m *Manifest) evaluateStatic() hcl.Diagnostics {
	var diags hcl.Diagnostics
	e := m.evaluator(nil)
	for name, l := range m.declared.locals {
		if l.wrong {
			m.static[name] = cty.DynamicVal
		}
	}
	for _, name := range sortedKeys(m.declared.locals) {
		if l := m.declared.locals[name]; !l.dynamic && !l.wrong {
			v, d := e.memo(e.locals, name, l.expr, nil)
			diags = append(diags, d...)
			m.static[name] = v
		}
	}
	settings := map[string]typeSettings{}
	for _, name := range sortedKeys(m.declared.types) {
		s, d := m.settings(m.declared.types[name])
		settings[name], diags = s, append(diags, d...)
	}
	for _, name := range sortedKeys(m.declared.plugs) {
		p, d := m.plug(m.declared.plugs[name])
		m.plugs, diags = append(m.plugs, p), append(diags, d...)
	}
	for _, r := range m.resources {
		diags = append(diags, m.fill(r, m.declared.resources[r.Address], settings)...)
	}
	return diags
}

// find is the resource with an address.
func (m *Manifest) find(address string) *Resource {
	for lo, hi := 0, len(m.resources); lo < hi; {
		mid := (lo + hi) / 2
		switch c := strings.Compare(m.resources[mid].Address, address); {
		case c == 0:
			return m.resources[mid]
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return nil
}

// staticValue evaluates an expression that may use no resource.
func (m *Manifest) staticValue(expr hcl.Expression, want cty.Type) (cty.Value, hcl.Diagnostics) {
	return m.staticAt(expr, want, place{what: "this value", static: true})
}

func (m *Manifest) staticAt(expr hcl.Expression, want cty.Type, p place) (cty.Value, hcl.Diagnostics) {
	if diags := m.checkRefs(expr, p, nil); diags.HasErrors() {
		return cty.NilVal, diags
	}
	e := m.evaluator(nil)
	e.markTypes = p.types
	v, diags := e.value(expr, nil)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	return convertTo(v, want, expr.Range(), p.what)
}

// staticAttr evaluates an attribute that must be known now. The result is
// cty.NilVal when the attribute is absent, null, in error, or not known because
// of an error elsewhere.
func (m *Manifest) staticAttr(a *hcl.Attribute, want cty.Type, what string) (cty.Value, hcl.Diagnostics) {
	return m.attrAt(a, want, place{what: what, static: true})
}

func (m *Manifest) attrAt(a *hcl.Attribute, want cty.Type, p place) (cty.Value, hcl.Diagnostics) {
	if a == nil {
		return cty.NilVal, nil
	}
	v, diags := m.staticAt(a.Expr, want, p)
	if diags.HasErrors() || v.IsNull() || !v.IsWhollyKnown() {
		return cty.NilVal, diags
	}
	return v, diags
}

// optional is staticAttr for what is shown to people or steers the tool: a mark
// would be lost there, so that a sensitive value is refused.
func (m *Manifest) optional(a *hcl.Attribute, want cty.Type, what string) (cty.Value, hcl.Diagnostics) {
	return m.shownAt(a, want, place{what: what, static: true})
}

func (m *Manifest) shownAt(a *hcl.Attribute, want cty.Type, p place) (cty.Value, hcl.Diagnostics) {
	v, diags := m.attrAt(a, want, p)
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
			v, d := a.Expr.Value(nil)
			if d.HasErrors() || v.Type() != cty.String || v.IsNull() || !v.IsKnown() {
				diags = append(diags, failure(a.Expr.Range(), "Not a constant", "The value of %s must be a text constant in quotes.", name))
				continue
			}
			if name == "required_version" {
				diags = append(diags, m.requireVersion(v.AsString(), a.Expr.Range())...)
				continue
			}
			if stateAt != nil {
				diags = append(diags, twice("state file", v.AsString(), stateAt.Range, a.Range))
			}
			stateAt, m.statePath = a, v.AsString()
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
	diags hcl.Diagnostics
}

func (r *attrReader) read(name string, want cty.Type, set func(cty.Value) error) {
	a := r.attrs[name]
	v, diags := r.m.optional(a, want, "the attribute "+name+" of "+r.of)
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
	a := attrReader{m: m, attrs: b.attrs, of: "a plug"}
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

// fill completes a resource.
func (m *Manifest) fill(r *Resource, d *resource, settings map[string]typeSettings) hcl.Diagnostics {
	a := attrReader{m: m, attrs: d.attrs, of: "a resource"}
	typ, diags := m.shownAt(d.attrs["type"], cty.String, place{what: "the type of a resource", static: true, types: true})
	a.diags = diags
	if typ != cty.NilVal {
		image, marks := typ.Unmark()
		r.TypeRef = image.AsString()
		for mark := range marks {
			if t, ok := mark.(typeMark); ok {
				r.Settings, r.Timeouts = settings[t.name].Settings, settings[t.name].timeouts
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
