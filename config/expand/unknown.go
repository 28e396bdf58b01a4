package expand

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/eval"
	"deployster/config/instance"
	"deployster/config/source"
	"deployster/config/trace"
	"deployster/internal/base/words"
)

// Unknown is a pending block whose instances stay unknown, though all states that they need are decided.
type Unknown struct {
	instance.Pending
	Refs []string // what makes them unknown, sorted
}

// Failure returns the error for a block whose instances never become known.
func (u Unknown) Failure() hcl.Diagnostics {
	what := "The keys of this for_each are"
	if name := u.Attribute(); name != "for_each" {
		what = "This " + name + " is"
	}
	verb := "is"
	if len(u.Refs) > 1 {
		verb = "are"
	}
	return hcl.Diagnostics{source.Failure(u.X.Expr.Range(), "Instances that cannot be known", "%s not known, because %s %s: no apply "+
		"changes that, as nothing that this is made of is created or changed. Take it from something else, or from a variable.", what,
		words.List(u.Refs, 3), verb)}
}

// learn determines the instances of a block with the known states, or returns the references that make them unknown.
func learn(e *eval.Evaluator, pending *instance.Expansion) (source.Instances, []string, hcl.Diagnostics) {
	x := instance.Expansion{Repetition: pending.Repetition, Mod: pending.Mod, Address: pending.Address, Expr: pending.Expr}
	v, diags := e.Value(x.Expr, x.Scope())
	if diags.HasErrors() {
		return source.Instances{}, nil, diags
	}
	if d := x.Take(v, x.Expr); d != nil {
		return source.Instances{}, nil, hcl.Diagnostics{d}
	}
	if x.Pending {
		refs := trace.UnknownRefs(e, x.Expr, x.Scope())
		if len(refs) == 0 { // the whole value is of a kind that the search does not enter
			refs = []string{"its value"}
		}
		return source.Instances{}, slices.Clip(refs), nil
	}
	if x.Repetition != instance.ForEach {
		return source.Instances{Count: &x.N}, nil, nil
	}
	return source.Instances{Keys: x.Keys}, nil, nil
}
