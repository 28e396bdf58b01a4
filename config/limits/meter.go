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

// The limits on the work of one expression. No real one comes near; a few nested for
// expressions could take hours and all the memory.
const (
	Steps = 300_000          // iterations of for expressions, elements of their values, and calls
	Made  = 4 * Text         // bytes of text that they produce, including intermediate values
	Time  = 20 * time.Second // of processor time, and also of real time
)

// meter counts the cost of evaluating one expression. HCL has no hook for this, so
// Metered wraps the parts of an expression that are evaluated many times, and they
// find their meter in the evaluation context. It belongs to one goroutine.
type meter struct {
	steps, made int
	start       time.Time
	before      time.Duration // processor time, measured once the evaluation takes unusually long
	exceeded    error         // nil = within the limits
}

// meterName is a name that no expression can use.
const meterName = " meter"

var meterType = cty.Capsule("meter", reflect.TypeFor[meter]())

// Evaluate evaluates an expression prepared by Metered, and stops when it costs too
// much. It does not change the values in the context.
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
		if m.exceeded != nil { // also if a function has recovered the panic
			r := expr.Range()
			v, diags = cty.DynamicVal, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Too much to evaluate", Subject: &r,
				Extra: Overrun{m.exceeded.Error()},
				Detail: fmt.Sprintf("The evaluation of this expression was stopped: %s. Use smaller collections, or fewer nested for "+
					"expressions.", m.exceeded)}}
		}
	}()
	return expr.Value(inner)
}

// overrun is the panic value of a meter. An error would not stop the evaluation: a
// for expression continues after one, and try catches it.
type overrun struct{}

// Overrun is the error of a function that evaluated something too expensive. The
// expression that calls the function stops too.
type Overrun struct{ Why string }

func (o Overrun) Error() string { return o.Why }

// Overran returns the overrun in the diagnostics of Evaluate, if there is one.
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

// count adds the text and the elements of a value that a step produced.
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

// Metered wraps those parts of everything below a node that can be evaluated many
// times or in which numbers grow. It must run once, before the node is used.
func Metered(n hclsyntax.Node) {
	switch n := n.(type) { // hcl's walk allocates for each node, and most are one of these, which are not wrapped
	case *hclsyntax.Body:
		for _, a := range n.Attributes {
			Metered(a.Expr)
		}
		for _, b := range n.Blocks {
			Metered(b.Body)
		}
	case *hclsyntax.ObjectConsExpr:
		for _, item := range n.Items {
			Metered(item.KeyExpr)
			Metered(item.ValueExpr)
		}
	case *hclsyntax.ObjectConsKeyExpr:
		Metered(n.Wrapped)
	case *hclsyntax.TupleConsExpr:
		for _, item := range n.Exprs {
			Metered(item)
		}
	case *hclsyntax.TemplateExpr:
		for _, part := range n.Parts {
			Metered(part)
		}
	case *hclsyntax.LiteralValueExpr, *hclsyntax.ScopeTraversalExpr:
	default:
		_ = hclsyntax.Walk(n, wrapper{}) // it reports nothing
	}
}

type wrapper struct{}

func (wrapper) Enter(hclsyntax.Node) hcl.Diagnostics { return nil }

// Exit wraps from the inside out, so that it sees inner nodes unwrapped.
func (wrapper) Exit(n hclsyntax.Node) hcl.Diagnostics {
	switch n := n.(type) {
	case *hclsyntax.ForExpr:
		n.ValExpr = metered{kept(n.ValExpr), eachElement}
		if n.KeyExpr != nil {
			n.KeyExpr = metered{kept(n.KeyExpr), eachElement}
		}
		if n.CondExpr != nil {
			n.CondExpr = metered{kept(n.CondExpr), eachElement}
		}
	case *hclsyntax.SplatExpr:
		n.Each = metered{kept(n.Each), eachElement}
	case *hclsyntax.FunctionCallExpr:
		for i, arg := range n.Args {
			n.Args[i] = metered{kept(arg), argument}
		}
	case *hclsyntax.BinaryOpExpr:
		n.LHS, n.RHS = metered{kept(n.LHS), operandOf(n.Op)}, metered{kept(n.RHS), operandOf(n.Op)}
	case *hclsyntax.UnaryOpExpr:
		n.Val = metered{kept(n.Val), operandOf(n.Op)}
	}
	return nil
}

// metered is an expression whose evaluation is counted or checked: except for its
// evaluation it behaves like an expression in parentheses, so that code that walks the
// tree finds it.
type metered struct {
	*hclsyntax.ParenthesesExpr
	role role
}

// role is what is counted or checked when an expression is evaluated.
type role int

const (
	eachElement   role = iota // it is evaluated for each element: its result
	argument                  // of a function call: a step, since functions take time
	operand                   // of an operator: whether it is a number that could be written
	numberOperand             // of an operator that converts its operands to numbers
)

// operandOf returns the role of an operand. An operator converts text to a number without a
// check, and numbers grow; a number of a hundred million digits cannot be written.
func operandOf(op *hclsyntax.Operation) role {
	if op.Impl.Params()[0].Type == cty.Number {
		return numberOperand
	}
	return operand
}

// kept returns an expression in parentheses, at the same place.
func kept(e hclsyntax.Expression) *hclsyntax.ParenthesesExpr {
	return &hclsyntax.ParenthesesExpr{Expression: e, SrcRange: e.Range()}
}

// UnwrapExpression lets HCL read an expression without evaluating it, such as a type.
func (e metered) UnwrapExpression() hcl.Expression { return e.Expression }

// Value evaluates the expression.
func (e metered) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	m := meterOf(ctx)
	switch {
	case e.role >= operand:
		return e.checkedOperand(ctx)
	case m == nil:
		return e.Expression.Value(ctx)
	}
	m.step()
	v, diags := e.Expression.Value(ctx)
	if e.role == eachElement {
		if o, ok := Overran(diags); ok {
			m.stop("%s", o.Why)
		}
		m.count(v)
	}
	return v, diags
}

// checkedOperand evaluates the expression, and returns an error for a number that could
// not be written.
func (e metered) checkedOperand(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
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

func (e metered) check(v cty.Value) error {
	v, _ = v.Unmark()
	switch {
	case !v.IsKnown() || v.IsNull():
		return nil
	case v.Type() == cty.Number:
		return CheckNumber(v.AsBigFloat())
	case v.Type() == cty.String && e.role == numberOperand:
		return CheckNumberText(v.AsString())
	}
	return nil
}
