package config

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"deployster/config/limits"
	"deployster/internal/diag"
)

// evaluator evaluates expressions against one scope. It belongs to one
// goroutine. Each expression gets a context made of what it refers to and no
// more, so that ten thousand resources cost no more than their references.
type evaluator struct {
	m       *Manifest
	scope   Scope
	locals  map[string]result
	configs map[string]result
	states  map[string]cty.Value
	chain   int // references that lead here
	// markTypes: type.NAME carries a mark that says which type it is.
	markTypes bool
}

type result struct {
	value cty.Value
	busy  bool // being evaluated: reached again means a cycle
}

func (m *Manifest) evaluator(s Scope) *evaluator {
	return &evaluator{m: m, scope: s, locals: map[string]result{}, configs: map[string]result{}, states: map[string]cty.Value{}}
}

// Config evaluates a resource's config against what is known of the others'
// states. A resource without config has an empty one.
func (m *Manifest) Config(addr string, s Scope) (Resolved, diag.Diagnostics) {
	r := m.declared.resources[addr]
	if r == nil {
		return Resolved{}, diag.Diagnostics{diag.Errorf("Unknown resource", "There is no resource %q in the manifest.", addr)}
	}
	var out Resolved
	var list hcl.Diagnostics
	if failed := guard(func() { _, out, list = m.evaluator(s).config(r) }); failed != nil {
		failed.Address = addr
		return Resolved{}, diag.Diagnostics{failed}
	}
	diags := m.convert(list)
	for _, d := range diags {
		d.Address = addr
	}
	return out, diags
}

// Outputs evaluates the outputs, sorted by name.
func (m *Manifest) Outputs(s Scope) ([]Output, diag.Diagnostics) {
	var out []Output
	var list hcl.Diagnostics
	failed := guard(func() {
		e := m.evaluator(s)
		for _, name := range sortedKeys(m.declared.outputs) {
			o, _, d := e.output(m.declared.outputs[name])
			out = append(out, o)
			list = append(list, d...)
		}
	})
	if failed != nil {
		return nil, diag.Diagnostics{failed}
	}
	return out, m.convert(list)
}

// config evaluates a resource's config into JSON.
func (e *evaluator) config(r *resource) (cty.Value, Resolved, hcl.Diagnostics) {
	value, diags := e.configValue(r)
	if diags.HasErrors() {
		return value, Resolved{}, diags
	}
	a := r.attrs["config"]
	if a == nil {
		return value, Resolved{Value: []byte("{}"), Unknown: map[string]string{}}, diags
	}
	if plain, _ := value.Unmark(); plain.IsKnown() && (plain.IsNull() || !plain.Type().IsObjectType() && !plain.Type().IsMapType()) {
		return value, Resolved{}, append(diags, failure(a.Expr.Range(), "Invalid config", "The config of a resource is an object, { NAME = VALUE }, and this %s.", describe(value)))
	}
	out, d := e.resolve(a.Expr, r, value)
	return value, out, append(diags, d...)
}

func (e *evaluator) configValue(r *resource) (cty.Value, hcl.Diagnostics) {
	a := r.attrs["config"]
	if a == nil {
		return cty.EmptyObjectVal, nil
	}
	return e.memo(e.configs, r.name, a.Expr, r)
}

// output evaluates one output.
func (e *evaluator) output(b *block) (Output, cty.Value, hcl.Diagnostics) {
	o := Output{Name: b.name}
	var diags hcl.Diagnostics
	flag, d := e.m.optional(b.attrs["sensitive"], cty.Bool, "the attribute sensitive of an output")
	diags = append(diags, d...)
	o.Sensitive = flag != cty.NilVal && flag.True()
	text, d := e.m.optional(b.attrs["description"], cty.String, "the description of an output")
	diags = append(diags, d...)
	if text != cty.NilVal {
		o.Description = text.AsString()
	}
	a := b.attrs["value"]
	if a == nil {
		return o, cty.DynamicVal, diags
	}
	value, d := e.value(a.Expr, nil)
	if diags = append(diags, d...); diags.HasErrors() {
		return o, value, diags
	}
	hidden, written := sensitivity(value)
	if written && !o.Sensitive {
		return o, value, append(diags, failure(a.Expr.Range(), "A sensitive value would be printed",
			"The value of the output %q is computed from a sensitive one. Add sensitive = true to the output to keep it hidden, or take the sensitive part out with nonsensitive() if it may be seen.", b.name))
	}
	o.Sensitive = o.Sensitive || hidden
	o.Resolved, d = e.resolve(a.Expr, nil, value)
	if o.Sensitive && len(o.Resolved.Sensitive) == 0 {
		o.Resolved.Sensitive = []string{""}
	}
	return o, value, append(diags, d...)
}

// memo evaluates a named expression once.
func (e *evaluator) memo(into map[string]result, name string, expr hcl.Expression, owner *resource) (cty.Value, hcl.Diagnostics) {
	if got, ok := into[name]; ok && !got.busy {
		return got.value, nil
	} else if ok {
		return cty.DynamicVal, hcl.Diagnostics{failure(expr.Range(), "Refers to itself", "%q is computed from itself. Remove the reference.", name)}
	}
	if e.chain++; e.chain > maxChain {
		e.chain--
		return cty.DynamicVal, hcl.Diagnostics{limits.Exceeded(expr.Range(), "references that lead from one to the next", maxChain)}
	}
	defer func() { e.chain-- }()
	into[name] = result{busy: true}
	value, diags := e.value(expr, owner)
	if diags.HasErrors() {
		value = cty.DynamicVal // said once: what depends on it is unknown
	}
	into[name] = result{value: value}
	return value, diags
}

// value evaluates an expression.
func (e *evaluator) value(expr hcl.Expression, owner *resource) (cty.Value, hcl.Diagnostics) {
	ctx, diags := e.contextFor(expr, owner)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	value, d := limits.Evaluate(expr, ctx)
	d = d[:min(len(d), maxErrors)]
	e.m.explain(d)
	hide(d, expr, ctx)
	if diags = append(diags, d...); d.HasErrors() {
		return cty.DynamicVal, diags
	}
	if at, err := limits.CheckParts(value); err != nil {
		part, _ := descend(expr, pointerSteps(at))
		return cty.DynamicVal, append(diags, failure(part.Range(), "Unusable value", "This value cannot be used: %s.", err))
	}
	return value, diags
}

// explain adds to HCL's messages what only we know.
func (m *Manifest) explain(diags hcl.Diagnostics) {
	for _, d := range diags {
		if d.Subject == nil || d.Expression == nil || d.EvalContext == nil {
			continue
		}
		for _, t := range d.Expression.Variables() {
			m.explainStep(d, t)
		}
	}
}

// explainStep suggests an attribute where a step of a traversal found none.
func (m *Manifest) explainStep(d *hcl.Diagnostic, t hcl.Traversal) {
	for i := 1; i < len(t); i++ {
		if t[i].SourceRange() != *d.Subject {
			continue
		}
		before, diags := t[:i].TraverseAbs(d.EvalContext)
		before, _ = before.Unmark()
		if diags.HasErrors() || !before.IsKnown() || before.IsNull() || !before.Type().IsObjectType() {
			return
		}
		names := sortedKeys(before.Type().AttributeTypes())
		name := stepName(t, i)
		if name == "" || before.Type().HasAttribute(name) {
			return
		}
		d.Summary = "Unknown attribute"
		d.Detail = fmt.Sprintf("%s has no attribute %q: %s.%s", traversalString(t[:i]), name, oneOf(names), suggest(name, names))
		return
	}
}

// convertTo converts a value, for a place that needs a certain type.
func convertTo(value cty.Value, want cty.Type, at hcl.Range, what string) (cty.Value, hcl.Diagnostics) {
	got, err := convert.Convert(value, want)
	if err != nil {
		return cty.NilVal, hcl.Diagnostics{failure(at, "Wrong type", "%s must be %s.", capital(what), mismatch(want, value, err))}
	}
	return got, nil
}
