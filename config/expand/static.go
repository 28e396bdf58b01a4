package expand

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/eval"
	"deployster/config/instance"
	"deployster/config/source"
	"deployster/config/values"
)

// evaluateStatic evaluates everything in a module that must be known before any state
// is read: variables and locals that do not depend on resources, types, plugs, and
// resources except for their configs.
func (m *Instances) evaluateStatic(e *eval.Evaluator, mod *instance.Module) hcl.Diagnostics {
	var diags hcl.Diagnostics
	b := mod.Decl
	for _, name := range slices.Sorted(maps.Keys(b.Variables)) {
		if mod.Caller == nil || b.Variables[name].NeedsState {
			continue
		}
		v, d := e.Variable(name, mod)
		diags = append(diags, d...)
		mod.Vars[name] = v
	}
	for name, l := range b.Locals {
		if l.Invalid {
			mod.Locals[name] = values.Sized{Value: cty.DynamicVal}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.Locals)) {
		if l := b.Locals[name]; !l.NeedsState && !l.Invalid {
			v, d := e.Local(name, mod)
			diags = append(diags, d...)
			mod.Locals[name] = v
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.Types)) {
		s, d := settings(m.Modules, b.Types[name], mod)
		mod.Settings[b.Types[name]], diags = s, append(diags, d...)
	}
	if mod.Caller == nil {
		m.Modules.Semaphores = append(m.Modules.Semaphores, inOrder(b.Semaphores, m.semaphore, &diags)...)
		m.Modules.Exclusive = append(m.Modules.Exclusive, inOrder(b.Exclusive, m.exclusive, &diags)...)
		m.Modules.Notify = append(m.Modules.Notify, inOrder(b.Notify, m.notify, &diags)...)
		m.Modules.SecretBlocks = append(m.Modules.SecretBlocks, inOrder(b.Secrets, m.secret, &diags)...)
		diags = append(diags, secretCycles(m.Modules.SecretBlocks, b.Secrets)...)
		m.Modules.Operations = append(m.Modules.Operations, inOrder(b.Operations, m.operation, &diags)...)
		m.Modules.Artifacts = append(m.Modules.Artifacts, inOrder(b.Artifacts, m.artifact, &diags)...)
		m.Modules.Plugs = append(m.Modules.Plugs, inOrder(b.Plugs, m.plug, &diags)...)
	}
	for _, name := range slices.Sorted(maps.Keys(mod.Resources)) {
		diags = append(diags, m.fillAll(mod.Resources[name])...)
	}
	return diags
}

// attrReader decodes attributes one after the other.
type attrReader struct {
	m     *eval.Modules
	attrs hcl.Attributes
	of    string
	at    instance.Scope
	diags hcl.Diagnostics
	typ   *decl.Block // the type block that image found
	// repeated is the block whose each or count may be used if at has no resource.
	repeated *decl.Block
	// late collects the names of attributes that depend on states and are unknown; nil = no
	// attribute may depend on states. e evaluates those attributes; without e all of them
	// are unknown.
	late *[]string
	e    *eval.Evaluator
}

func (a *attrReader) read(name string, want cty.Type, set func(cty.Value) error) {
	attr := a.attrs[name]
	if attr == nil {
		return
	}
	usage := decl.Usage{What: "the attribute " + name + " of " + a.of, Static: true, Repeated: a.repeated}
	var v cty.Value
	var diags hcl.Diagnostics
	if a.late != nil && a.m.NeedsStates(attr.Expr, a.at.Mod.Decl) {
		usage.Static = false
		if v, diags = a.m.LateAttr(attr, want, usage, a.at, a.e); v == cty.NilVal && !diags.HasErrors() {
			*a.late = append(*a.late, name)
		}
	} else {
		v, diags = a.m.ShownAt(attr, want, usage, a.at)
	}
	a.diags = append(a.diags, diags...)
	if v == cty.NilVal {
		return
	}
	if err := set(v); err != nil {
		a.diags = append(a.diags, source.Failure(attr.Expr.Range(), "Invalid "+name, "%s.", values.Capital(err.Error())))
	}
}

// image decodes the type attribute of a resource or artifact, and returns the image with the settings of the type.
func (a *attrReader) image(what string) (ref string, set instance.TypeSettings) {
	attr := a.attrs["type"]
	typ, diags := a.m.ShownAt(attr, cty.String, decl.Usage{What: what, Static: true, Types: true}, a.at)
	a.diags = append(a.diags, diags...)
	if typ == cty.NilVal {
		return "", set
	}
	image, marks := typ.Unmark()
	for mark := range marks {
		if t, ok := mark.(eval.TypeMark); ok {
			set, a.typ = t.Mod.Settings[t.Decl], t.Decl
		}
	}
	if err := checkImage(image.AsString()); err != nil {
		a.diags = append(a.diags, source.Failure(attr.Expr.Range(), "Invalid type", "%s.", values.Capital(err.Error())))
	}
	return image.AsString(), set
}

// plug decodes one plug.
func (m *Instances) plug(b *decl.Block) (instance.Plug, hcl.Diagnostics) {
	p := instance.Plug{Name: b.Name, Range: source.FromHCL(b.At)}
	a := attrReader{m: m.Modules, attrs: b.Attrs, of: "a plug", at: m.Modules.Top.Scope()}
	a.read("path", cty.String, func(v cty.Value) (err error) {
		if b.Artifact != nil {
			p.Path, err = treePath(v.AsString())
			return err
		}
		path := v.AsString()
		switch p.Path, err = a.hostPath(path); {
		case belowHome(path):
			p.Home = path
		case !filepath.IsAbs(path):
			p.Base = m.Modules.Set.Src.Workspace
		}
		return err
	})
	a.read("read_only", cty.Bool, func(v cty.Value) error { p.ReadOnly = v.True(); return nil })
	a.content(&p)
	if b.Artifact != nil {
		p.Artifact, p.ReadOnly = b.Artifact.Name, true
	}
	a.read("resource_names", cty.List(cty.String), func(v cty.Value) (err error) { p.ResourceNames, err = patterns(v); return err })
	a.read("resource_types", cty.List(cty.String), func(v cty.Value) (err error) { p.ResourceTypes, err = patterns(v); return err })
	return p, a.diags
}

// hostPath makes a path absolute. Relative ones begin in the working directory.
func (a *attrReader) hostPath(path string) (string, error) {
	if path == "" {
		return "", fmt.Errorf("the path is empty")
	}
	if belowHome(path) {
		if a.m.Set.Builtins.Home == "" {
			return "", fmt.Errorf("%q begins with ~, and there is no home directory: set HOME, or write the path out", path)
		}
		return filepath.Join(a.m.Set.Builtins.Home, path[1:]), nil
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	return filepath.Join(a.m.Set.Src.Workspace, path), nil
}

// belowHome reports whether a path begins with the home directory as ~.
func belowHome(path string) bool { return path == "~" || strings.HasPrefix(path, "~/") }

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

// fillAll completes the instances of a block. They are all alike, unless an attribute
// outside of the config uses each or count.
func (m *Instances) fillAll(s *instance.ResourceSet) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for i := range s.List {
		r := &s.List[i]
		if i > 0 && !m.toldApart(r.Decl) {
			first := &s.List[0].Resource
			r.TypeRef, r.Settings, r.Timeouts = first.TypeRef, first.Settings, first.Timeouts
			r.ReadOnly, r.PreventDestroy, r.OnRemove = first.ReadOnly, first.PreventDestroy, first.OnRemove
			r.Pull, r.Verify = first.Pull, first.Verify
			r.New, r.CreateFirst, r.Ignored = first.New, first.CreateFirst, first.Ignored
			r.Retry, r.Watch, r.Semaphores = first.Retry, first.Watch, first.Semaphores
			continue
		}
		d := m.fill(r)
		if diags = append(diags, d...); d.HasErrors() {
			return diags // the other instances would have the same errors
		}
	}
	return diags
}

// toldApart reports whether an attribute outside of the config uses each or count.
func (m *Instances) toldApart(r *decl.Resource) bool {
	if !r.Repeats() {
		return false
	}
	attrs := []*hcl.Attribute{r.Attrs["type"], r.Attrs["host"], r.Attrs["read_only"]}
	for _, block := range []hcl.Attributes{r.Lifecycle, r.Timeouts, r.Retry, r.Watch} {
		for _, a := range block {
			attrs = append(attrs, a)
		}
	}
	for _, a := range attrs {
		if a == nil {
			continue
		}
		for _, ref := range m.Modules.Refs.References(a.Expr) {
			if root := ref.Traversal.RootName(); root == "each" || root == "count" {
				return true
			}
		}
	}
	return false
}

// fill completes a resource.
func (m *Instances) fill(r *instance.Instance) hcl.Diagnostics {
	d := r.Decl
	at := r.Scope()
	a := attrReader{m: m.Modules, attrs: d.Attrs, of: "a resource", at: at}
	var set instance.TypeSettings
	r.TypeRef, set = a.image("the type of a resource")
	r.Settings, r.Timeouts, r.Pull, r.Verify = set.Settings, set.Timeouts, set.Pull, set.Verify
	r.Ignored = d.Ignored.Pointers()
	a.diags = append(a.diags, strayDefaults(d, a.typ)...)
	if d.Publish != nil {
		a.publish(r)
		return a.diags
	}
	if d.Check != nil {
		r.ReadOnly = true
		return a.diags
	}
	r.Watch = set.Watch
	a.ownHost(r)
	a.read("read_only", cty.Bool, func(v cty.Value) error { r.ReadOnly = v.True(); return nil })
	a.attrs, a.of = d.Lifecycle, "a lifecycle block"
	r.OnRemove = instance.OnRemoveDestroy
	a.read("prevent_destroy", cty.Bool, func(v cty.Value) error { r.PreventDestroy = v.True(); return nil })
	a.read("on_remove", cty.String, func(v cty.Value) error {
		r.OnRemove = instance.OnRemove(v.AsString())
		if r.OnRemove != instance.OnRemoveDestroy && r.OnRemove != instance.OnRemoveForget {
			return fmt.Errorf("it is \"destroy\" or \"forget\", and not %q", v.AsString())
		}
		return nil
	})
	r.New = m.Modules.Tree.New
	a.read("adopt", cty.Bool, func(v cty.Value) error { r.New = v.False(); return nil })
	a.read("create_before_destroy", cty.Bool, func(v cty.Value) error { r.CreateFirst = v.True(); return nil })
	a.attrs, a.of = d.Timeouts, "a timeouts block"
	a.read("state", cty.String, func(v cty.Value) (err error) { r.Timeouts.State, err = duration(v.AsString()); return err })
	a.read("action", cty.String, func(v cty.Value) (err error) { r.Timeouts.Action, err = duration(v.AsString()); return err })
	a.acting(r)
	return a.diags
}

// inOrder evaluates blocks in the order of their names, and adds their errors to diags.
func inOrder[B, V any](blocks map[string]B, evaluate func(B) (V, hcl.Diagnostics), diags *hcl.Diagnostics) (list []V) {
	for _, name := range slices.Sorted(maps.Keys(blocks)) {
		v, d := evaluate(blocks[name])
		list, *diags = append(list, v), append(*diags, d...)
	}
	return list
}
