package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/instance"
	"deployster/config/limits"
	"deployster/config/refs"
	"deployster/config/source"
	"deployster/config/values"
)

// Context is contextFor without its errors, which are already reported.
func (e *Evaluator) Context(expr hcl.Expression, at instance.Scope) *hcl.EvalContext {
	ctx, _ := e.contextFor(expr, at)
	return ctx
}

// Hide removes from errors what they show of the sensitive values of an expression.
func (e *Evaluator) Hide(diags hcl.Diagnostics, expr hcl.Expression, at instance.Scope) {
	source.Hide(diags, expr, e.Context(expr, at))
}

// contextFor returns the evaluation context of one expression.
func (e *Evaluator) contextFor(expr hcl.Expression, at instance.Scope) (*hcl.EvalContext, hcl.Diagnostics) {
	ctx := &hcl.EvalContext{Functions: e.M.functionsFor(expr, at)}
	references := e.M.Refs.References(expr)
	if len(references) == 0 {
		return ctx, nil
	}
	var diags hcl.Diagnostics
	roots := contextRoots{}
	budget := limits.Text * 4
	self := cty.NilVal
	for i, ref := range references {
		root, name := ref.Traversal.RootName(), refs.StepName(ref.Traversal, 1)
		if root == "resource" || root == "dep" || root == "module" {
			if !roots.has(root, name) {
				v, d := e.object(root, name, references[i:], at)
				diags = append(diags, d...)
				roots.put(root, name, orReported(root, v))
			}
			continue
		}
		if root == "publish" {
			if !roots.has(root, name) {
				v, d := e.Publish(name, references[i:], at)
				diags = append(diags, d...)
				roots.put(root, name, orReported(root, v))
			}
			continue
		}
		if root == "self" && at.Res != nil {
			if self == cty.NilVal {
				v, d := e.InstanceValue(at.Res, selfWants(references[i:]))
				self, diags = v, append(diags, d...)
			}
			continue
		}
		if roots.has(root, name) {
			continue
		}
		v, d := e.named(root, name, references[i:], at)
		diags = append(diags, d...)
		roots.put(root, name, orReported(root, v.Value))
		if budget -= v.Size; budget < 0 {
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

// orReported returns a value, or an unknown one for a name that is not declared and for a
// module that could not be read: both are reported where they are written, and HCL would
// report them again as a variable that does not exist. What depends on the place of an
// expression has no value elsewhere.
func orReported(root string, v cty.Value) cty.Value {
	if v == cty.NilVal && root != "each" && root != "count" && root != "self" && root != "dep" {
		return cty.DynamicVal
	}
	return v
}

// contextRoots holds the values below each root of an expression.
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

// named returns the value of root.name as far as the references need it, no value for
// resources and modules and for undeclared names.
func (e *Evaluator) named(root, name string, refs []refs.Reference, at instance.Scope) (values.Sized, hcl.Diagnostics) {
	switch root {
	case "var":
		return e.Variable(name, at.Mod)
	case "local":
		return e.Local(name, at.Mod)
	case "type":
		v := e.image(name, at.Mod)
		return values.Sized{Value: v}, nil
	case "each", "count":
		return e.repeated(root, name, refs, at)
	case "remote_state":
		return e.M.Remotes.valueOf(e.M, name, refs, at.Mod), nil
	case "artifact":
		if at.Mod.Decl.Artifacts[name] != nil {
			v := artifactValue(e, name, at.Mod)
			return values.Sized{Value: v, Size: limits.TextSize(v)}, nil
		}
	case "host":
		if s := e.M.Hosts.Set(name, at.Mod); s != nil {
			if !s.IsLate() {
				return s.Value, nil
			}
			each, diags := HostValues(e, s)
			v := s.Join(each)
			return values.Sized{Value: v, Size: limits.TextSize(v)}, diags
		}
	case "plug":
		for _, p := range e.M.Plugs {
			if p.Name == name {
				return values.Sized{Value: cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal(p.Name), "path": cty.StringVal(p.Path),
					"read_only": cty.BoolVal(p.ReadOnly)})}, nil
			}
		}
	case "secret":
		if at.Mod.Decl.Root().Secrets[name] != nil {
			return values.Sized{Value: cty.ObjectVal(map[string]cty.Value{"value": values.SecretText(name)})}, nil
		}
	case "path":
		switch name {
		case "cwd":
			return values.Sized{Value: cty.StringVal(e.M.Set.Src.Workspace)}, nil
		case "module":
			return values.Sized{Value: cty.StringVal(at.Mod.Decl.Dir)}, nil
		case "root":
			return values.Sized{Value: cty.StringVal(e.M.Set.Src.Dir)}, nil
		}
	case "deployster":
		b := e.M.Set.Builtins
		switch name {
		case "version":
			return values.Sized{Value: cty.StringVal(b.Version)}, nil
		case "verbose":
			return values.Sized{Value: cty.BoolVal(b.Verbose)}, nil
		case "workspace":
			return values.Sized{Value: cty.StringVal(b.Workspace)}, nil
		}
	}
	return values.Sized{}, nil
}

// Local returns the value of a local value.
func (e *Evaluator) Local(name string, mod *instance.Module) (values.Sized, hcl.Diagnostics) {
	if v, ok := mod.Locals[name]; ok {
		return v, nil
	}
	l := mod.Decl.Locals[name]
	if l == nil {
		return values.Sized{}, nil
	}
	return e.memo(MemoKey{Mod: mod, Kind: KindLocal, Name: name}, l.Expr, func() (cty.Value, hcl.Diagnostics) {
		return e.Value(l.Expr, mod.Scope())
	})
}

// Variable returns the value of a variable: in a module, the value of the module block's argument.
func (e *Evaluator) Variable(name string, mod *instance.Module) (values.Sized, hcl.Diagnostics) {
	if v, ok := mod.Vars[name]; ok {
		return v, nil
	}
	v := mod.Decl.Variables[name]
	if v == nil || mod.Caller == nil {
		return values.Sized{}, nil
	}
	a := mod.Decl.Call.Attrs[name]
	if a == nil {
		return values.Sized{Value: v.Spec.Hidden(v.Spec.Fallback())}, nil
	}
	got, diags := e.memo(MemoKey{Mod: mod, Kind: KindVariable, Name: name}, a.Expr, func() (cty.Value, hcl.Diagnostics) {
		value, diags := e.Value(a.Expr, mod.Inputs())
		if diags.HasErrors() {
			return cty.UnknownVal(v.Spec.Type), diags
		}
		got, err := v.Spec.Accept(value)
		if err != nil {
			return cty.UnknownVal(v.Spec.Type), append(diags, source.Failure(a.Expr.Range(), "Invalid value of a variable",
				"The value of the variable %q of the module %q does not fit: %s.", name, mod.Decl.Call.Name, v.Spec.Problem(err)))
		}
		return v.Spec.Hidden(got), diags
	})
	if v.NeedsState && !diags.HasErrors() {
		diags = append(diags, e.validateLate(v, got.Value, mod)...)
	}
	return got, diags
}

// image returns the value of type.NAME: the image, as text.
func (e *Evaluator) image(name string, mod *instance.Module) cty.Value {
	for ; mod != nil; mod = mod.Caller {
		t := mod.Decl.Types[name]
		if t == nil {
			continue
		}
		v, _ := e.M.StaticAttr(t.Attrs["image"], cty.String, "the image of a type", mod.Scope())
		if v == cty.NilVal {
			return cty.UnknownVal(cty.String) // its error is reported at its declaration
		}
		if e.markTypes {
			v = v.Mark(TypeMark{t, mod})
		}
		return v
	}
	return cty.NilVal
}

// repeated returns each.key, each.value and count.index.
func (e *Evaluator) repeated(root, name string, references []refs.Reference, at instance.Scope) (values.Sized, hcl.Diagnostics) {
	x := at.At.Of
	switch {
	case x == nil:
	case root == "count" && name == "index" && x.Repetition == instance.Counted:
		return values.Sized{Value: cty.NumberIntVal(int64(at.At.I))}, nil
	case root == "each" && name == "key" && x.Repetition == instance.ForEach:
		return values.Sized{Value: cty.StringVal(x.Keys[at.At.I]), Size: len(x.Keys[at.At.I])}, nil
	case root == "each" && name == "value" && x.Repetition == instance.ForEach:
		var wants []Want
		for _, ref := range references {
			if ref.Traversal.RootName() == "each" && refs.StepName(ref.Traversal, 1) == "value" {
				wants = append(wants, Want{ref.Traversal[2:], ref.Open, ref.Traversal.SourceRange()})
			}
		}
		return e.eachValue(at.At, wants)
	}
	return values.Sized{}, nil
}

// eachValue returns the parts of each.value of one instance that wants lists. The
// value may depend on the states of other resources.
func (e *Evaluator) eachValue(o instance.Occurrence, wants []Want) (values.Sized, hcl.Diagnostics) {
	x, key := o.Of, o.Of.Keys[o.I]
	if x.Set {
		return values.Sized{Value: cty.StringVal(key), Size: len(key)}, nil
	}
	if v, ok := x.Values[key]; ok {
		return values.Sized{Value: v, Size: limits.TextSize(v)}, nil
	}
	if item := refs.Child(x.Expr, key); item != nil {
		return e.memo(MemoKey{Mod: x.Mod, X: x, Kind: kindEach, Name: key}, item, func() (cty.Value, hcl.Diagnostics) {
			return e.Value(item, x.Scope())
		})
	}
	if ref, ok := e.M.Refs.AsReference(x.Expr); ok && len(ref.Traversal) == 2 && ref.Key == nil && ref.Traversal.RootName() == "resource" {
		if s := e.M.ResourceSet(e, x.Mod, refs.StepName(ref.Traversal, 1)); s != nil && s.Repetition == instance.ForEach {
			if i := s.Index(cty.StringVal(key)); i >= 0 { // for_each = resource.disk
				v, diags := e.InstanceValue(&s.List[i], wants)
				return values.Sized{Value: v}, diags
			}
		}
	}
	if v, ok := eachHost(e, x, key); ok {
		return v, nil
	}
	whole, diags := e.memo(MemoKey{Mod: x.Mod, X: x, Kind: KindForEach}, x.Expr, func() (cty.Value, hcl.Diagnostics) {
		return e.Value(x.Expr, x.Scope())
	})
	if diags.HasErrors() {
		return values.Sized{Value: cty.DynamicVal}, diags
	}
	v, marks := whole.Value.Unmark()
	switch isSet := v.Type().IsSetType(); {
	case isSet && !v.IsWhollyKnown(), isSet && v.HasElement(cty.StringVal(key)).True():
		return values.Sized{Value: cty.StringVal(key).WithMarks(marks), Size: len(key)}, nil
	case !v.IsKnown():
		return values.Sized{Value: cty.DynamicVal.WithMarks(marks)}, nil
	case v.IsNull():
	case v.Type().IsObjectType() && v.Type().HasAttribute(key):
		v = v.GetAttr(key)
		return values.Sized{Value: v.WithMarks(marks), Size: limits.TextSize(v)}, nil
	case v.Type().IsMapType() && v.HasIndex(cty.StringVal(key)).True():
		v = v.Index(cty.StringVal(key))
		return values.Sized{Value: v.WithMarks(marks), Size: limits.TextSize(v)}, nil
	}
	return values.Sized{Value: cty.DynamicVal}, hcl.Diagnostics{goneKey(x, key)}
}

func goneKey(x *instance.Expansion, key string) *hcl.Diagnostic {
	return source.Failure(x.Expr.Range(), "Instance no longer declared",
		"When the plan was made, this for_each had the key %s. What it is made of has changed since, and now it has not. Plan again.",
		values.QuoteKey(key))
}
