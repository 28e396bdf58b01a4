package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/limits"
)

// context is contextFor where errors have been reported already.
func (e *evaluator) context(expr hcl.Expression, at site) *hcl.EvalContext {
	ctx, _ := e.contextFor(expr, at)
	return ctx
}

// contextFor makes the evaluation context of one expression.
func (e *evaluator) contextFor(expr hcl.Expression, at site) (*hcl.EvalContext, hcl.Diagnostics) {
	ctx := &hcl.EvalContext{Functions: e.m.functionsFor(expr, at)}
	refs := e.m.refs.references(expr)
	if len(refs) == 0 {
		return ctx, nil
	}
	var diags hcl.Diagnostics
	roots := contextRoots{}
	budget := limits.Text * 4
	self := cty.NilVal
	for i, ref := range refs {
		root, name := ref.t.RootName(), stepName(ref.t, 1)
		if root == "resource" || root == "dep" || root == "module" {
			if !roots.has(root, name) {
				v, d := e.object(root, name, refs[i:], at)
				diags = append(diags, d...)
				roots.put(root, name, v)
			}
			continue
		}
		if root == "self" && at.res != nil {
			if self == cty.NilVal {
				v, d := e.instanceValue(at.res, selfWants(refs[i:]))
				self, diags = v, append(diags, d...)
			}
			continue
		}
		if roots.has(root, name) {
			continue
		}
		v, d := e.named(root, name, refs[i:], at)
		diags = append(diags, d...)
		if v.value == cty.NilVal {
			continue
		}
		roots.put(root, name, v.value)
		if budget -= v.size; budget < 0 {
			return nil, append(diags, limits.Exceeded(expr.Range(), "bytes of text put together in one expression", limits.Text*4))
		}
	}
	ctx.Variables = make(map[string]cty.Value, len(roots)+1)
	for root, attrs := range roots {
		ctx.Variables[root] = cty.ObjectVal(attrs)
	}
	if self != cty.NilVal {
		ctx.Variables["self"] = self
	}
	return ctx, diags
}

// contextRoots are the values below each root of an expression.
type contextRoots map[string]map[string]cty.Value

func (r contextRoots) has(root, name string) bool {
	_, ok := r[root][name]
	return ok
}

func (r contextRoots) put(root, name string, v cty.Value) {
	if v == cty.NilVal {
		return
	}
	if r[root] == nil {
		r[root] = map[string]cty.Value{}
	}
	r[root][name] = v
}

// named gives the value of root.name as far as the references want it, none for
// resources and modules and for what does not exist.
func (e *evaluator) named(root, name string, refs []reference, at site) (known, hcl.Diagnostics) {
	switch root {
	case "var":
		return e.variable(name, at.mod)
	case "local":
		return e.local(name, at.mod)
	case "type":
		v := e.image(name, at.mod)
		return known{value: v}, nil
	case "each", "count":
		return e.repeated(root, name, refs, at)
	case "plug":
		for _, p := range e.m.plugs {
			if p.Name == name {
				return known{value: cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal(p.Name), "path": cty.StringVal(p.Path), "read_only": cty.BoolVal(p.ReadOnly)})}, nil
			}
		}
	case "path":
		switch name {
		case "cwd":
			return known{value: cty.StringVal(e.m.set.src.Workspace)}, nil
		case "module":
			return known{value: cty.StringVal(at.mod.block.dir)}, nil
		case "root":
			return known{value: cty.StringVal(e.m.set.src.Dir)}, nil
		}
	case "deployster":
		b := e.m.set.builtins
		switch name {
		case "version":
			return known{value: cty.StringVal(b.Version)}, nil
		case "verbose":
			return known{value: cty.BoolVal(b.Verbose)}, nil
		case "workspace":
			return known{value: cty.StringVal(b.Workspace)}, nil
		}
	}
	return known{}, nil
}

// local gives a local value.
func (e *evaluator) local(name string, mod *module) (known, hcl.Diagnostics) {
	if v, ok := mod.locals[name]; ok {
		return v, nil
	}
	l := mod.block.locals[name]
	if l == nil {
		return known{}, nil
	}
	return e.memo(memoKey{mod: mod, kind: kindLocal, name: name}, l.expr, func() (cty.Value, hcl.Diagnostics) {
		return e.value(l.expr, mod.site())
	})
}

// variable gives a variable: of a module it is what the module block says.
func (e *evaluator) variable(name string, mod *module) (known, hcl.Diagnostics) {
	if v, ok := mod.vars[name]; ok {
		return v, nil
	}
	v := mod.block.variables[name]
	if v == nil || mod.caller == nil {
		return known{}, nil
	}
	a := mod.block.call.attrs[name]
	if a == nil {
		return known{value: v.hidden(v.fallback())}, nil
	}
	got, diags := e.memo(memoKey{mod: mod, kind: kindVariable, name: name}, a.Expr, func() (cty.Value, hcl.Diagnostics) {
		value, diags := e.value(a.Expr, mod.inputs())
		if diags.HasErrors() {
			return cty.UnknownVal(v.typ), diags
		}
		got, err := v.accept(value)
		if err != nil {
			return cty.UnknownVal(v.typ), append(diags, failure(a.Expr.Range(), "Invalid value of a variable",
				"The value of the variable %q of the module %q does not fit: %s.", name, mod.block.call.name, v.problem(err)))
		}
		return v.hidden(got), diags
	})
	if v.dynamic && !diags.HasErrors() {
		diags = append(diags, e.validateLate(v, got.value, mod)...)
	}
	return got, diags
}

// image gives type.NAME: the image, as text.
func (e *evaluator) image(name string, mod *module) cty.Value {
	for ; mod != nil; mod = mod.caller {
		t := mod.block.types[name]
		if t == nil {
			continue
		}
		v, _ := e.m.staticAttr(t.attrs["image"], cty.String, "the image of a type", mod.site())
		if v == cty.NilVal {
			return cty.UnknownVal(cty.String) // its error is said where it is declared
		}
		if e.markTypes {
			v = v.Mark(typeMark{t, mod})
		}
		return v
	}
	return cty.NilVal
}

// repeated gives each.key, each.value and count.index.
func (e *evaluator) repeated(root, name string, refs []reference, at site) (known, hcl.Diagnostics) {
	x := at.at.of
	switch {
	case x == nil:
	case root == "count" && name == "index" && x.repetition == counted:
		return known{value: cty.NumberIntVal(int64(at.at.i))}, nil
	case root == "each" && name == "key" && x.repetition == forEach:
		return known{value: cty.StringVal(x.keys[at.at.i]), size: len(x.keys[at.at.i])}, nil
	case root == "each" && name == "value" && x.repetition == forEach:
		var wants []want
		for _, ref := range refs {
			if ref.t.RootName() == "each" && stepName(ref.t, 1) == "value" {
				wants = append(wants, want{ref.t[2:], ref.open, ref.t.SourceRange()})
			}
		}
		return e.eachValue(at.at, wants)
	}
	return known{}, nil
}

// eachValue gives each.value of one instance, which may be made of the states of
// others, as far as it is wanted.
func (e *evaluator) eachValue(o occurrence, wants []want) (known, hcl.Diagnostics) {
	x, key := o.of, o.of.keys[o.i]
	if x.set {
		return known{value: cty.StringVal(key), size: len(key)}, nil
	}
	if v, ok := x.values[key]; ok {
		return known{value: v, size: limits.TextSize(v)}, nil
	}
	if item := child(x.expr, key); item != nil {
		return e.memo(memoKey{mod: x.mod, x: x, kind: kindEach, name: key}, item, func() (cty.Value, hcl.Diagnostics) {
			return e.value(item, x.site())
		})
	}
	if ref, ok := e.m.refs.asReference(x.expr); ok && len(ref.t) == 2 && ref.key == nil && ref.t.RootName() == "resource" {
		if s := e.m.resourceSet(e, x.mod, stepName(ref.t, 1)); s != nil && s.repetition == forEach {
			if i := s.index(cty.StringVal(key)); i >= 0 { // for_each = resource.disk
				v, diags := e.instanceValue(&s.list[i], wants)
				return known{value: v}, diags
			}
		}
	}
	whole, diags := e.memo(memoKey{mod: x.mod, x: x, kind: kindForEach}, x.expr, func() (cty.Value, hcl.Diagnostics) {
		return e.value(x.expr, x.site())
	})
	if diags.HasErrors() {
		return known{value: cty.DynamicVal}, diags
	}
	v, marks := whole.value.Unmark()
	switch {
	case !v.IsKnown():
		return known{value: cty.DynamicVal.WithMarks(marks)}, nil
	case v.IsNull():
	case v.Type().IsObjectType() && v.Type().HasAttribute(key):
		v = v.GetAttr(key)
		return known{value: v.WithMarks(marks), size: limits.TextSize(v)}, nil
	case v.Type().IsMapType() && v.HasIndex(cty.StringVal(key)).True():
		v = v.Index(cty.StringVal(key))
		return known{value: v.WithMarks(marks), size: limits.TextSize(v)}, nil
	case v.Type().IsSetType() && v.HasElement(cty.StringVal(key)).Equals(cty.True).True():
		return known{value: cty.StringVal(key).WithMarks(marks), size: len(key)}, nil
	}
	return known{value: cty.DynamicVal}, hcl.Diagnostics{goneKey(x, key)}
}

func goneKey(x *expansion, key string) *hcl.Diagnostic {
	return failure(x.expr.Range(), "An instance that is not wanted any more",
		"When the plan was made, this for_each had the key %s. What it is made of has changed since, and now it has not. Plan again.", quoteKey(key))
}
