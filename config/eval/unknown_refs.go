package eval

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/instance"
	"deployster/config/refs"
)

// UnknownRefs are the references to states in an expression whose values are
// not known, sorted, each once.
func (e *Evaluator) UnknownRefs(expr hcl.Expression, at instance.Scope) []string {
	found := map[string]bool{}
	e.collectUnknown(expr, at, found, map[visit]bool{})
	return slices.Sorted(maps.Keys(found))
}

// visit is an expression that was looked at, and where.
type visit struct {
	expr hcl.Expression
	at   instance.Scope
}

func (e *Evaluator) collectUnknown(expr hcl.Expression, at instance.Scope, found map[string]bool, seen map[visit]bool) {
	if seen[visit{expr, at}] {
		return
	}
	seen[visit{expr, at}] = true
	if e.M.Impure == nil {
		for _, name := range e.M.Refs.ImpureCalls(expr) {
			found[name+"()"] = true
		}
	}
	for _, ref := range e.M.Refs.References(expr) {
		next, nextAt, rest := e.source(ref, at)
		if next == nil {
			e.unknownRef(rest, nextAt, found, seen)
			continue
		}
		e.collectUnknown(next, nextAt, found, seen)
	}
}

// unknownRef adds a reference to states if what it reads is not known.
func (e *Evaluator) unknownRef(ref refs.Reference, at instance.Scope, found map[string]bool, seen map[visit]bool) {
	root := ref.Traversal.RootName()
	if root == "dep" {
		if at.Res != nil && at.Res.ByAlias[refs.StepName(ref.Traversal, 1)].To != nil {
			e.unknownPart(at.Res.ByAlias[refs.StepName(ref.Traversal, 1)].To, want{Steps: ref.Traversal[2:], open: ref.Open}, found, seen)
		}
		return
	}
	if root == "self" && at.Res != nil {
		e.unknownPart(at.Res, want{Steps: ref.Traversal[1:], open: ref.Open}, found, seen)
		return
	}
	if root != "resource" && root != "module" {
		return
	}
	s := e.Choose(root, refs.StepName(ref.Traversal, 1), []refs.Reference{ref}, at)
	if s.Of == nil {
		return
	}
	if s.Of.Pending {
		found[refs.TraversalString(ref.Traversal[:2])] = true
		return
	}
	if s.List != nil {
		s.each(func(i int) {
			for _, w := range s.wantsOf(i) {
				e.unknownPart(&s.List[i], w, found, seen)
			}
		})
	}
	s.EachModule(func(mod *instance.Module) {
		for _, name := range decl.OutputsOf(ref, mod.Decl) {
			if a := mod.Decl.Outputs[name].Attrs["value"]; a != nil {
				e.collectUnknown(a.Expr, mod.Scope(), found, seen)
			}
		}
	})
}

// unknownPart adds a part of a resource if it is not known.
func (e *Evaluator) unknownPart(i *instance.Instance, w want, found map[string]bool, seen map[visit]bool) {
	v, _ := e.instanceValue(i, []want{w})
	ctx := &hcl.EvalContext{Variables: map[string]cty.Value{"it": v}}
	path := append(hcl.Traversal{hcl.TraverseRoot{Name: "it"}}, w.Steps...)
	part, diags := path.TraverseAbs(ctx)
	if diags.HasErrors() || part.IsWhollyKnown() {
		return
	}
	if a := i.Decl.Attrs["config"]; a != nil && len(w.Steps) > 0 && refs.ObjectKey(w.Steps[0]) == "config" {
		inner, _ := refs.Descend(a.Expr, w.Steps[1:])
		e.collectUnknown(inner, i.Scope(), found, seen)
		return
	}
	if len(w.Steps) == 0 { // the resource as a whole: it is its state that is not known
		path = append(path, hcl.TraverseAttr{Name: "state"})
	}
	found[instance.Reference(i.Address)+strings.TrimPrefix(refs.TraversalString(path), "it")] = true
}
