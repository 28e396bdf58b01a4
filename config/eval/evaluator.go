package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

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
	return &Evaluator{M: m, scope: s}
}

// put adds to a map of an evaluator, which makes it first: most need none.
func put[K comparable, V any](to *map[K]V, key K, v V) {
	if *to == nil {
		*to = map[K]V{}
	}
	(*to)[key] = v
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
		kept := []string(nil)
		v, kept = i.Decl.Ignored.Keep(v, last)
		put(&e.kept, i, kept)
	}
	return v, diags
}

// OwnConfig is configValue without caching: no other expression reads most configs,
// and ten thousand of them take more memory than all declarations.
func (e *Evaluator) OwnConfig(i *instance.Instance) (cty.Value, hcl.Diagnostics) {
	if _, kept := e.done[MemoKey{Kind: KindConfig, Inst: i}]; kept || i.Decl.Attrs["config"] == nil {
		return e.configValue(i)
	}
	return e.freshConfig(i)
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
		return values.Sized{Value: cty.DynamicVal}, hcl.Diagnostics{limits.Exceeded(expr.Range(), "references that lead from one to the "+
			"next",
			MaxChain)}
	}
	defer func() { e.chain-- }()
	put(&e.done, key, result{busy: true})
	value, diags := eval()
	if diags.HasErrors() {
		value = cty.DynamicVal // reported once: values that depend on it are unknown
	}
	got := values.Sized{Value: value, Size: limits.TextSize(value)}
	put(&e.done, key, result{Sized: got})
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

// Kept returns the parts of a config that ignore_changes keeps, as JSON pointers: after
// the config was evaluated.
func (e *Evaluator) Kept(i *instance.Instance) []string { return e.kept[i] }
