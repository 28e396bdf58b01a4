package eval

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/instance"
	"deployster/config/limits"
	"deployster/config/refs"
	"deployster/config/source"
	"deployster/config/validate"
	"deployster/config/values"
)

// Evaluator evaluates expressions against one scope. It belongs to one goroutine. The
// context of each expression holds only what the expression refers to, so that ten
// thousand resources cost no more than their references.
type Evaluator struct {
	M      *Modules
	scope  instance.States
	done   map[MemoKey]result
	states map[string]cty.Value
	types  map[string]values.StateType     // the types of unknown states
	kept   map[*instance.Instance][]string // the parts of each config that ignore_changes keeps, as JSON pointers
	chain  int                             // the number of references followed to get here
	// Dry: the caller needs only the errors.
	Dry bool
	// markTypes: type.NAME carries a mark with its type.
	markTypes bool
}

// MemoKey identifies a value that is evaluated once.
type MemoKey struct {
	Kind byte
	Mod  *instance.Module
	Inst *instance.Instance  // the resource, for its config
	X    *instance.Expansion // the block, for its for_each
	Name string
}

// MaxChain is the limit on the length of a chain of references.
const MaxChain = 500

// The kinds of values that are evaluated once.
const (
	KindLocal byte = iota
	KindVariable
	KindOutput
	KindConfig
	kindEach
	KindForEach
	KindModule
	kindValidation
	KindHost
)

type result struct {
	values.Sized
	busy bool // being evaluated: reaching it again means a cycle
}

// Evaluator returns an evaluator against the known states.
func (m *Modules) Evaluator(s instance.States) *Evaluator {
	return &Evaluator{M: m, scope: s, done: map[MemoKey]result{}, states: map[string]cty.Value{},
		types: map[string]values.StateType{}, kept: map[*instance.Instance][]string{}}
}

// Config evaluates a resource's config into JSON.
func (e *Evaluator) Config(i *instance.Instance) (cty.Value, instance.Resolved, hcl.Diagnostics) {
	value, diags := e.ownConfig(i)
	if diags.HasErrors() {
		return value, instance.Resolved{}, diags
	}
	a := i.Decl.Attrs["config"]
	if a == nil {
		return value, instance.Resolved{Value: []byte("{}"), Unknown: map[string]string{}}, diags
	}
	if plain, _ := value.Unmark(); plain.IsKnown() && (plain.IsNull() || !plain.Type().IsObjectType() && !plain.Type().IsMapType()) {
		return value, instance.Resolved{}, append(diags, source.Failure(a.Expr.Range(), "Invalid config",
			"The config of a resource is an object, { NAME = VALUE }, and this %s.", values.Describe(value)))
	}
	out, d := e.resolve(a.Expr, i.Scope(), value)
	out.Ignored = e.kept[i]
	return value, out, append(diags, d...)
}

// Defaults evaluates the defaults of a type into JSON. Their errors are reported for the
// configs that use them.
func (e *Evaluator) Defaults(expr hcl.Expression, at instance.Scope) instance.Resolved {
	value, diags := e.Value(expr, at)
	if plain, _ := value.Unmark(); diags.HasErrors() || !plain.IsKnown() || plain.IsNull() || !plain.Type().IsObjectType() {
		return instance.Resolved{}
	}
	out, _ := e.resolve(expr, at, value)
	return out
}

func (e *Evaluator) configValue(i *instance.Instance) (cty.Value, hcl.Diagnostics) {
	a := i.Decl.Attrs["config"]
	if a == nil {
		return cty.EmptyObjectVal, nil
	}
	v, diags := e.memo(MemoKey{Kind: KindConfig, Inst: i}, a.Expr, func() (cty.Value, hcl.Diagnostics) { return e.freshConfig(i) })
	return v.Value, diags
}

// freshConfig evaluates a config, in which the parts in ignore_changes keep their
// recorded values.
func (e *Evaluator) freshConfig(i *instance.Instance) (cty.Value, hcl.Diagnostics) {
	v, diags := e.Value(i.Decl.Attrs["config"].Expr, i.Scope())
	if last := e.scope[i.Address].Last; last != nil && i.Decl.Ignored.Any() && !diags.HasErrors() {
		v, e.kept[i] = i.Decl.Ignored.Keep(v, last)
	}
	return v, diags
}

// ownConfig is configValue without caching: no other expression reads most configs,
// and ten thousand of them take more memory than all declarations.
func (e *Evaluator) ownConfig(i *instance.Instance) (cty.Value, hcl.Diagnostics) {
	if _, kept := e.done[MemoKey{Kind: KindConfig, Inst: i}]; kept || i.Decl.Attrs["config"] == nil {
		return e.configValue(i)
	}
	return e.freshConfig(i)
}

// Outputs evaluates the outputs of the root, sorted by name, and the conditions of
// the outputs and variables of all modules.
func (e *Evaluator) Outputs() (out []instance.Output, diags hcl.Diagnostics) {
	top := e.M.Top
	for _, name := range slices.Sorted(maps.Keys(top.Decl.Outputs)) {
		o, _, d := e.Output(top.Decl.Outputs[name], top)
		out, diags = append(out, o), append(diags, d...)
	}
	for i := range out {
		open, d := e.JudgeList(top.Decl.Outputs[out[i].Name].Before, top.Scope())
		out[i].Open, diags = open, append(diags, d...)
	}
	top.Each(func(mod *instance.Module) {
		for _, name := range slices.Sorted(maps.Keys(mod.Decl.Variables)) {
			if v := mod.Decl.Variables[name]; v.NeedsState && len(v.Checks) > 0 {
				_, d := e.Variable(name, mod)
				diags = append(diags, d...)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(mod.Decl.Outputs)) {
			if mod != top {
				_, d := e.JudgeList(mod.Decl.Outputs[name].Before, mod.Scope())
				diags = append(diags, d...)
			}
		}
	})
	return out, diags
}

// Output evaluates one output.
func (e *Evaluator) Output(b *decl.Block, mod *instance.Module) (instance.Output, cty.Value, hcl.Diagnostics) {
	o := instance.Output{Name: b.Name}
	var diags hcl.Diagnostics
	flag, d := e.M.Optional(b.Attrs["sensitive"], cty.Bool, "the attribute sensitive of an output", mod.Scope())
	diags = append(diags, d...)
	o.Sensitive = flag != cty.NilVal && flag.True()
	_, d = e.M.Optional(b.Attrs["description"], cty.String, "the description of an output", mod.Scope()) // only for readers
	diags = append(diags, d...)
	a := b.Attrs["value"]
	if a == nil {
		return o, cty.DynamicVal, diags
	}
	value, d := e.Value(a.Expr, mod.Scope())
	if diags = append(diags, d...); diags.HasErrors() {
		return o, value, diags
	}
	hidden, written := values.Sensitivity(value)
	if written && !o.Sensitive && mod.Caller == nil { // the value of a module's output is not printed, and keeps its mark
		return o, value, append(diags, source.Failure(a.Expr.Range(), "A sensitive value would be printed",
			"The value of the output %q is computed from a sensitive one. Add sensitive = true to the output to keep it hidden, or take the "+
				"sensitive part out with nonsensitive() if it may be seen.", b.Name))
	}
	o.Sensitive = o.Sensitive || hidden
	o.Resolved, d = e.resolve(a.Expr, mod.Scope(), value)
	if o.Sensitive && len(o.Resolved.Sensitive) == 0 {
		o.Resolved.Sensitive = []string{""}
	}
	return o, value, append(diags, d...)
}

// memo evaluates a named value once. Errors are reported at the place of expr.
func (e *Evaluator) memo(key MemoKey, expr hcl.Expression, eval func() (cty.Value, hcl.Diagnostics)) (values.Sized, hcl.Diagnostics) {
	if got, ok := e.done[key]; ok && !got.busy {
		return got.Sized, nil
	} else if ok {
		return values.Sized{Value: cty.DynamicVal}, hcl.Diagnostics{source.Failure(expr.Range(), "Refers to itself", "%q is computed from "+
			"itself. Remove the reference.", key.Name)}
	}
	if e.chain++; e.chain > MaxChain {
		e.chain--
		return values.Sized{Value: cty.DynamicVal}, hcl.Diagnostics{limits.Exceeded(expr.Range(), "references that lead from one to the next",
			MaxChain)}
	}
	defer func() { e.chain-- }()
	e.done[key] = result{busy: true}
	value, diags := eval()
	if diags.HasErrors() {
		value = cty.DynamicVal // reported once: values that depend on it are unknown
	}
	got := values.Sized{Value: value, Size: limits.TextSize(value)}
	e.done[key] = result{Sized: got}
	return got, diags
}

// Value evaluates an expression.
func (e *Evaluator) Value(expr hcl.Expression, at instance.Scope) (cty.Value, hcl.Diagnostics) {
	ctx, diags := e.contextFor(expr, at)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	facts, evaluate := e.M.Refs.Facts(expr), limits.Evaluate
	if !facts.Repeats { // no loops to count
		evaluate = hcl.Expression.Value
	}
	value, d := evaluate(expr, ctx)
	if facts.Loops && !d.HasErrors() && !value.IsWhollyKnown() {
		d = append(d, tryLoops(expr, ctx)...)
	}
	d = d[:min(len(d), validate.MaxErrors)]
	explain(e, d, expr, at)
	source.Hide(d, expr, ctx)
	if diags = append(diags, d...); d.HasErrors() {
		return cty.DynamicVal, diags
	}
	if at, err := limits.CheckParts(value); err != nil {
		part, _ := refs.Descend(expr, refs.PointerSteps(at))
		return cty.DynamicVal, append(diags, source.Failure(part.Range(), "Unusable value", "This value cannot be used: %s.", err))
	}
	return value, diags
}
