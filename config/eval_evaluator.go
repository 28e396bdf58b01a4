package config

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/limits"
)

// evaluator evaluates expressions against one scope. It belongs to one
// goroutine. Each expression gets a context made of what it refers to and no
// more, so that ten thousand resources cost no more than their references.
type evaluator struct {
	m      *modules
	scope  Scope
	done   map[memoKey]result
	states map[string]cty.Value
	types  map[string]stateType   // of the states that are not known
	kept   map[*instance][]string // what ignore_changes keeps of each config, as JSON pointers
	chain  int                    // references that lead here
	// dry: only mistakes are of interest.
	dry bool
	// markTypes: type.NAME carries a mark that says which type it is.
	markTypes bool
}

// memoKey names a value that is evaluated once.
type memoKey struct {
	kind byte
	mod  *module
	inst *instance  // whose config
	x    *expansion // whose for_each
	name string
}

// The kinds of values that are evaluated once.
const (
	kindLocal byte = iota
	kindVariable
	kindOutput
	kindConfig
	kindEach
	kindForEach
	kindModule
	kindValidation
)

type result struct {
	known
	busy bool // being evaluated: reached again means a cycle
}

func (m *modules) evaluator(s Scope) *evaluator {
	return &evaluator{m: m, scope: s, done: map[memoKey]result{}, states: map[string]cty.Value{},
		types: map[string]stateType{}, kept: map[*instance][]string{}}
}

// config evaluates a resource's config into JSON.
func (e *evaluator) config(i *instance) (cty.Value, Resolved, hcl.Diagnostics) {
	value, diags := e.ownConfig(i)
	if diags.HasErrors() {
		return value, Resolved{}, diags
	}
	a := i.block.attrs["config"]
	if a == nil {
		return value, Resolved{Value: []byte("{}"), Unknown: map[string]string{}}, diags
	}
	if plain, _ := value.Unmark(); plain.IsKnown() && (plain.IsNull() || !plain.Type().IsObjectType() && !plain.Type().IsMapType()) {
		return value, Resolved{}, append(diags, failure(a.Expr.Range(), "Invalid config", "The config of a resource is an object, { NAME = VALUE }, and this %s.", describe(value)))
	}
	out, d := e.resolve(a.Expr, i.site(), value)
	out.Ignored = e.kept[i]
	return value, out, append(diags, d...)
}

func (e *evaluator) configValue(i *instance) (cty.Value, hcl.Diagnostics) {
	a := i.block.attrs["config"]
	if a == nil {
		return cty.EmptyObjectVal, nil
	}
	v, diags := e.memo(memoKey{kind: kindConfig, inst: i}, a.Expr, func() (cty.Value, hcl.Diagnostics) { return e.freshConfig(i) })
	return v.value, diags
}

// freshConfig evaluates a config, of which what ignore_changes names stays as it
// was recorded.
func (e *evaluator) freshConfig(i *instance) (cty.Value, hcl.Diagnostics) {
	v, diags := e.value(i.block.attrs["config"].Expr, i.site())
	if last := e.scope[i.Address].Last; last != nil && i.block.ignored.some() && !diags.HasErrors() {
		v, e.kept[i] = i.block.ignored.keep(v, last)
	}
	return v, diags
}

// ownConfig is configValue that is not kept: most configs are seen by nobody
// else, and ten thousand of them take more room than all that is declared.
func (e *evaluator) ownConfig(i *instance) (cty.Value, hcl.Diagnostics) {
	if _, kept := e.done[memoKey{kind: kindConfig, inst: i}]; kept || i.block.attrs["config"] == nil {
		return e.configValue(i)
	}
	return e.freshConfig(i)
}

// outputs evaluates the outputs of the root, sorted by name, and the conditions
// of all.
func (e *evaluator) outputs() (out []Output, diags hcl.Diagnostics) {
	top := e.m.top
	for _, name := range slices.Sorted(maps.Keys(top.block.outputs)) {
		o, _, d := e.output(top.block.outputs[name], top)
		out, diags = append(out, o), append(diags, d...)
	}
	for i := range out {
		open, d := e.judgeList(top.block.outputs[out[i].Name].before, top.site())
		out[i].Open, diags = open, append(diags, d...)
	}
	top.each(func(mod *module) {
		for _, name := range slices.Sorted(maps.Keys(mod.block.variables)) {
			if v := mod.block.variables[name]; v.dynamic && len(v.checks) > 0 {
				_, d := e.variable(name, mod)
				diags = append(diags, d...)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(mod.block.outputs)) {
			if mod != top {
				_, d := e.judgeList(mod.block.outputs[name].before, mod.site())
				diags = append(diags, d...)
			}
		}
	})
	return out, diags
}

// output evaluates one output.
func (e *evaluator) output(b *block, mod *module) (Output, cty.Value, hcl.Diagnostics) {
	o := Output{Name: b.name}
	var diags hcl.Diagnostics
	flag, d := e.m.optional(b.attrs["sensitive"], cty.Bool, "the attribute sensitive of an output", mod.site())
	diags = append(diags, d...)
	o.Sensitive = flag != cty.NilVal && flag.True()
	text, d := e.m.optional(b.attrs["description"], cty.String, "the description of an output", mod.site())
	diags = append(diags, d...)
	if text != cty.NilVal {
		o.Description = text.AsString()
	}
	a := b.attrs["value"]
	if a == nil {
		return o, cty.DynamicVal, diags
	}
	value, d := e.value(a.Expr, mod.site())
	if diags = append(diags, d...); diags.HasErrors() {
		return o, value, diags
	}
	hidden, written := sensitivity(value)
	if written && !o.Sensitive && mod.caller == nil { // a module's is not printed, and keeps its mark
		return o, value, append(diags, failure(a.Expr.Range(), "A sensitive value would be printed",
			"The value of the output %q is computed from a sensitive one. Add sensitive = true to the output to keep it hidden, or take the sensitive part out with nonsensitive() if it may be seen.", b.name))
	}
	o.Sensitive = o.Sensitive || hidden
	o.Resolved, d = e.resolve(a.Expr, mod.site(), value)
	if o.Sensitive && len(o.Resolved.Sensitive) == 0 {
		o.Resolved.Sensitive = []string{""}
	}
	return o, value, append(diags, d...)
}

// memo evaluates a named value once. Its place is that of expr.
func (e *evaluator) memo(key memoKey, expr hcl.Expression, eval func() (cty.Value, hcl.Diagnostics)) (known, hcl.Diagnostics) {
	if got, ok := e.done[key]; ok && !got.busy {
		return got.known, nil
	} else if ok {
		return known{value: cty.DynamicVal}, hcl.Diagnostics{failure(expr.Range(), "Refers to itself", "%q is computed from itself. Remove the reference.", key.name)}
	}
	if e.chain++; e.chain > maxChain {
		e.chain--
		return known{value: cty.DynamicVal}, hcl.Diagnostics{limits.Exceeded(expr.Range(), "references that lead from one to the next", maxChain)}
	}
	defer func() { e.chain-- }()
	e.done[key] = result{busy: true}
	value, diags := eval()
	if diags.HasErrors() {
		value = cty.DynamicVal // said once: what depends on it is unknown
	}
	got := known{value, limits.TextSize(value)}
	e.done[key] = result{known: got}
	return got, diags
}

// value evaluates an expression.
func (e *evaluator) value(expr hcl.Expression, at site) (cty.Value, hcl.Diagnostics) {
	ctx, diags := e.contextFor(expr, at)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	facts, evaluate := e.m.refs.facts(expr), limits.Evaluate
	if !facts.repeats { // there is nothing to count
		evaluate = hcl.Expression.Value
	}
	value, d := evaluate(expr, ctx)
	if facts.loops && !d.HasErrors() && !value.IsWhollyKnown() {
		d = append(d, tryLoops(expr, ctx)...)
	}
	d = d[:min(len(d), maxErrors)]
	e.explain(d, expr, at)
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
