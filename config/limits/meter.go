package limits

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"deployster/internal/base/proc"
)

// The work that one expression may cost. Nothing real comes near; a few nested
// for expressions would take hours and all the memory.
const (
	Steps = 300_000          // elements that for expressions go through, and calls
	Made  = 4 * Text         // bytes of text that they make, also in between
	Time  = 20 * time.Second // of the processors, and on the clock
)

// meter counts what the evaluation of one expression costs. HCL has no hook to
// count with, so that the parts of an expression that are evaluated many times
// are wrapped (Metered), and find their meter in the context that they are
// evaluated in. It belongs to one goroutine.
type meter struct {
	steps, made int
	start       time.Time
	before      time.Duration // of the processors, taken once the clock says that this is no usual one
	exceeded    error         // nil = not yet
}

// meterName is no name that an expression could write.
const meterName = " meter"

var meterType = cty.Capsule("meter", reflect.TypeFor[meter]())

// Evaluate evaluates an expression that went through Metered, and stops when it
// costs too much. What it finds in the context stays as it is.
func Evaluate(expr hcl.Expression, ctx *hcl.EvalContext) (v cty.Value, diags hcl.Diagnostics) {
	m := &meter{start: time.Now()}
	inner := ctx.NewChild()
	inner.Functions = ctx.Functions // HCL suggests names of this level only
	inner.Variables = map[string]cty.Value{meterName: cty.CapsuleVal(meterType, m)}
	defer func() {
		p := recover()
		if _, ours := p.(overrun); p != nil && !ours {
			panic(p)
		}
		if m.exceeded != nil { // also when a function has caught the panic
			r := expr.Range()
			v, diags = cty.DynamicVal, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Too much to evaluate", Subject: &r,
				Extra: Overrun{m.exceeded.Error()},
				Detail: fmt.Sprintf("This expression is not evaluated to its end: %s. "+
					"Go through less, or in fewer for expressions inside each other.", m.exceeded)}}
		}
	}()
	return expr.Value(inner)
}

// overrun is what a meter panics with. Errors would not do: a for expression
// goes on after one, and try catches them.
type overrun struct{}

// Overrun is the error of a function in which something was evaluated that costs
// too much. What calls the function is not evaluated any further either.
type Overrun struct{ Why string }

func (o Overrun) Error() string { return o.Why }

// Overran finds the overrun among what Evaluate gave, if there is one.
func Overran(diags hcl.Diagnostics) (Overrun, bool) {
	for _, d := range diags {
		switch extra := d.Extra.(type) {
		case Overrun:
			return extra, true
		case hclsyntax.FunctionCallDiagExtra:
			if o, ok := errors.AsType[Overrun](extra.FunctionCallError()); ok {
				return o, true
			}
		}
	}
	return Overrun{}, false
}

func meterOf(ctx *hcl.EvalContext) *meter {
	for ; ctx != nil; ctx = ctx.Parent() {
		if v, ok := ctx.Variables[meterName]; ok {
			return v.EncapsulatedValue().(*meter)
		}
	}
	return nil
}

func (m *meter) stop(format string, args ...any) {
	if m.exceeded == nil {
		m.exceeded = fmt.Errorf(format, args...)
	}
	panic(overrun{})
}

// step counts one step.
func (m *meter) step() {
	if m.steps++; m.steps > Steps || m.exceeded != nil {
		m.stop("it goes through more than %d elements, in all its for expressions together", Steps)
	}
	switch took := time.Since(m.start); {
	case m.before == 0 && took > Time/20:
		m.before = proc.ProcessorTime()
	case took > Time && proc.ProcessorTime()-m.before > Time*19/20:
		m.stop("it takes longer than %s", Time)
	}
}

// count adds the text and the elements of a value that was made in a step.
func (m *meter) count(v cty.Value) {
	v, _ = v.Unmark()
	switch {
	case !v.IsKnown() || v.IsNull():
	case v.Type() == cty.String:
		if m.made += len(v.AsString()); m.made > Made {
			m.stop("it makes more than %d bytes of text, also in between", Made)
		}
	case v.CanIterateElements():
		for it := v.ElementIterator(); it.Next(); {
			if m.steps++; m.steps > Steps {
				m.stop("it makes more than %d elements, also in between", Steps)
			}
			_, child := it.Element()
			m.count(child)
		}
	}
}

// Metered wraps the parts of everything below a node that can be evaluated many
// times or that numbers grow in. It must run once, before the node is used.
func Metered(n hclsyntax.Node) {
	_ = hclsyntax.Walk(n, wrapper{}) // it reports nothing
}

type wrapper struct{}

func (wrapper) Enter(hclsyntax.Node) hcl.Diagnostics { return nil }

// Exit wraps from the inside out, so that what is inside is seen as it is.
func (wrapper) Exit(n hclsyntax.Node) hcl.Diagnostics {
	switch n := n.(type) {
	case *hclsyntax.ForExpr:
		n.ValExpr = repeated{kept(n.ValExpr)}
		if n.KeyExpr != nil {
			n.KeyExpr = repeated{kept(n.KeyExpr)}
		}
		if n.CondExpr != nil {
			n.CondExpr = repeated{kept(n.CondExpr)}
		}
	case *hclsyntax.SplatExpr:
		n.Each = repeated{kept(n.Each)}
	case *hclsyntax.FunctionCallExpr:
		for i, arg := range n.Args {
			n.Args[i] = argument{kept(arg)}
		}
	case *hclsyntax.BinaryOpExpr:
		n.LHS, n.RHS = operand{kept(n.LHS), onNumbers(n.Op)}, operand{kept(n.RHS), onNumbers(n.Op)}
	case *hclsyntax.UnaryOpExpr:
		n.Val = operand{kept(n.Val), onNumbers(n.Op)}
	}
	return nil
}

// kept makes the form in which an expression is wrapped: for all but its
// evaluation it is as if it stood in parentheses, so that who walks through the
// tree finds it.
func kept(e hclsyntax.Expression) wrapped {
	return wrapped{&hclsyntax.ParenthesesExpr{Expression: e, SrcRange: e.Range()}}
}

// wrapped is what all wrappers are made of.
type wrapped struct{ *hclsyntax.ParenthesesExpr }

// UnwrapExpression lets HCL read an expression that is not to be evaluated, such
// as a type.
func (e wrapped) UnwrapExpression() hcl.Expression { return e.Expression }

// repeated is what is evaluated for each element of something.
type repeated struct{ wrapped }

// Value evaluates the expression and counts what it makes.
func (e repeated) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	m := meterOf(ctx)
	if m == nil {
		return e.Expression.Value(ctx)
	}
	m.step()
	v, diags := e.Expression.Value(ctx)
	if o, ok := Overran(diags); ok {
		m.stop("%s", o.Why)
	}
	m.count(v)
	return v, diags
}

// argument is what a function is called with.
type argument struct{ wrapped }

// Value evaluates the expression and counts a step, since functions take time.
func (e argument) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if m := meterOf(ctx); m != nil {
		m.step()
	}
	return e.Expression.Value(ctx)
}

// operand is what an operator computes with. Text with a number in it becomes
// one there without a check, and numbers grow; one of a hundred million digits
// cannot be written.
type operand struct {
	wrapped
	number bool // the operator makes numbers of its operands
}

func onNumbers(op *hclsyntax.Operation) bool { return op.Impl.Params()[0].Type == cty.Number }

// Value evaluates the expression and refuses numbers that could not be written.
func (e operand) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, diags := e.Expression.Value(ctx)
	if diags.HasErrors() {
		return v, diags
	}
	if err := e.check(v); err != nil {
		r := e.Range()
		return cty.DynamicVal, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Unusable value",
			Detail: fmt.Sprintf("This value cannot be used: %s.", err), Subject: &r}}
	}
	return v, diags
}

func (e operand) check(v cty.Value) error {
	v, _ = v.Unmark()
	switch {
	case !v.IsKnown() || v.IsNull():
		return nil
	case v.Type() == cty.Number:
		return CheckNumber(v.AsBigFloat())
	case v.Type() == cty.String && e.number:
		return CheckNumberText(v.AsString())
	}
	return nil
}
