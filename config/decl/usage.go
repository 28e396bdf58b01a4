package decl

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"deployster/internal/base/jsondoc"
)

// Usage describes a kind of place for expressions: it decides what they may refer to.
type Usage struct {
	What    string // for messages: "the type of a resource"
	Static  bool   // evaluated before any state is known
	Types   bool   // type.NAME may be used though static
	Hosts   bool   // host.NAME may be used though static
	Late    bool   // values that depend on resources may be used though static
	Secrets bool   // secret.NAME may be used
	Plan    bool   // plan may be used, the whole plan: in a rule of a policy
	Denied  bool   // deny may be used: in the message of a rule
	Self    bool   // of a resource: self.state and its other attributes may be used
	Check   *Check // whose lookups may be used, nil for none
	// Repeated is the block whose each or count may be used, nil for none.
	Repeated *Block
	// Owner is the resource whose aliases may be used, nil for none.
	Owner *Resource
}

// Roots returns the root names that expressions may use there, sorted.
func (u Usage) Roots() []string {
	var list []string
	for i := range kinds {
		if k := &kinds[i]; k.Root != "" && k.Allows(u) {
			list = append(list, k.Root)
		}
	}
	slices.Sort(list)
	return list
}

// Expression is an expression in a block, and its Usage.
type Expression struct {
	Expr  hcl.Expression
	Usage Usage
	// Invalid is set to true if the expression refers to something undeclared; may be nil.
	Invalid *bool
}

// Expressions visits the expressions of a module that are evaluated when states are
// known; static ones are checked where they are evaluated.
func (b *Module) Expressions(visit func(Expression)) {
	for i := range kinds {
		if kinds[i].expressions != nil {
			kinds[i].expressions(b, visit)
		}
	}
}

// sorted visits the blocks of a map in the order of their names.
func sorted[V any](in map[string]V, visit func(V)) {
	for _, name := range jsondoc.Keys(in) {
		visit(in[name])
	}
}

func localExpressions(b *Module, visit func(Expression)) {
	sorted(b.Locals, func(l *Local) {
		visit(Expression{Expr: l.Expr, Usage: Usage{What: l.what}, Invalid: &l.Invalid})
	})
}

// variableExpressions visits the validations of variables whose values depend on
// resources; the others are checked where they are evaluated.
func variableExpressions(b *Module, visit func(Expression)) {
	sorted(b.Variables, func(v *Variable) {
		for _, check := range v.Checks {
			if v.NeedsState {
				sorted(check, func(a *hcl.Attribute) {
					visit(Expression{Expr: a.Expr, Usage: Usage{What: "a validation", Static: true, Late: true}})
				})
			}
		}
	})
}

func resourceExpressions(b *Module, visit func(Expression)) {
	sorted(b.Resources, func(r *Resource) {
		repetition(&r.Block, visit)
		keys(slices.Concat(r.DependsOn, r.Subscribe), &r.Block, visit)
		sorted(r.Aliases, func(t Dependency) { keys([]Dependency{t}, &r.Block, visit) })
		for _, expr := range r.Expressions() {
			u := Usage{What: "the config of a resource", Repeated: &r.Block, Owner: r, Secrets: r.Check == nil}
			visit(Expression{Expr: expr, Usage: u})
		}
		for _, expr := range r.Triggers {
			visit(Expression{Expr: expr, Usage: Usage{What: "replace_triggered_by", Repeated: &r.Block}})
		}
		conditions(r.Conditions(), r, visit)
	})
}

func outputExpressions(b *Module, visit func(Expression)) {
	sorted(b.Outputs, func(o *Block) {
		keys(o.DependsOn, o, visit)
		if a := o.Attrs["value"]; a != nil {
			visit(Expression{Expr: a.Expr, Usage: Usage{What: "the value of an output"}})
		}
		conditions(o.Before, nil, visit)
	})
}

func checkExpressions(b *Module, visit func(Expression)) {
	sorted(b.Checks, func(c *Check) {
		conditions(c.Asserts, nil, func(x Expression) {
			x.Usage.Check = c
			visit(x)
		})
	})
}

func callExpressions(b *Module, visit func(Expression)) {
	sorted(b.Calls, func(c *Call) {
		repetition(&c.Block, visit)
		keys(c.DependsOn, &c.Block, visit)
		for _, input := range c.Inputs() {
			visit(Expression{Expr: c.Attrs[input].Expr, Usage: Usage{What: "a variable of a module", Repeated: &c.Block}})
		}
	})
}

// repetition visits for_each, count and enabled.
func repetition(r *Block, visit func(Expression)) {
	for _, name := range Repetitions {
		if a := r.Attrs[name]; a != nil {
			visit(Expression{Expr: a.Expr, Usage: Usage{What: "the " + name + " of a block"}, Invalid: &r.Invalid})
		}
	}
}

// keys visits the computed keys of resource.NAME[KEY] in dependencies, depends_on or subscribe.
func keys(list []Dependency, owner *Block, visit func(Expression)) {
	for _, t := range list {
		if t.Ref.Key != nil {
			visit(t.KeyOf(owner))
		}
	}
}

// KeyOf returns the computed key of a dependency of a block.
func (t Dependency) KeyOf(owner *Block) Expression {
	return Expression{Expr: t.Ref.Key, Usage: Usage{What: "the key of an instance", Static: true, Repeated: owner}}
}

func conditions(list []Condition, owner *Resource, visit func(Expression)) {
	for _, c := range list {
		u := Usage{What: "a " + c.Kind, Self: c.OfItself, Owner: owner}
		if owner != nil {
			u.Repeated = &owner.Block
		}
		if c.Kind == "assert" {
			u.What = "an assertion"
		}
		visit(Expression{Expr: c.Expr, Usage: u})
		visit(Expression{Expr: c.Message, Usage: u})
	}
}
