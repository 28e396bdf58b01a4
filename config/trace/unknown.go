package trace

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/eval"
	"deployster/config/instance"
	"deployster/config/refs"
	"deployster/internal/base/natural"
)

// UnknownRefs returns the references to states in an expression whose values are
// unknown, in natural order, each once.
func UnknownRefs(e *eval.Evaluator, expr hcl.Expression, at instance.Scope) []string {
	s := unknownSearch{e: e, found: map[string]bool{}, seen: map[visit]bool{}}
	s.expr(expr, at)
	return slices.SortedFunc(maps.Keys(s.found), natural.Compare)
}

// unknownSearch collects references to unknown values.
type unknownSearch struct {
	e     *eval.Evaluator
	found map[string]bool
	seen  map[visit]bool
}

// visit is an expression that was searched, and its scope.
type visit struct {
	expr hcl.Expression
	at   instance.Scope
}

func (s unknownSearch) expr(expr hcl.Expression, at instance.Scope) {
	if s.seen[visit{expr, at}] {
		return
	}
	s.seen[visit{expr, at}] = true
	if s.e.M.Impure == nil {
		for _, name := range s.e.M.Refs.ImpureCalls(expr) {
			s.found[name+"()"] = true
		}
	}
	for _, ref := range s.e.M.Refs.References(expr) {
		next, nextAt, rest := sourceOf(s.e, ref, at)
		if next == nil {
			s.ref(rest, nextAt)
			continue
		}
		s.expr(next, nextAt)
	}
}

// ref adds a reference to states if the value that it reads is unknown.
func (s unknownSearch) ref(ref refs.Reference, at instance.Scope) {
	root := ref.Traversal.RootName()
	if root == "dep" {
		if at.Res != nil && at.Res.ByAlias[refs.StepName(ref.Traversal, 1)] != nil {
			s.part(at.Res.ByAlias[refs.StepName(ref.Traversal, 1)], eval.Want{Steps: ref.Traversal[2:], Open: ref.Open})
		}
		return
	}
	if root == "artifact" {
		if _, known := s.e.M.ArtifactValues[refs.StepName(ref.Traversal, 1)]; !known {
			s.found[refs.TraversalString(ref.Traversal)] = true
		}
		return
	}
	if root == "host" {
		_, missing := LackedFacts(s.e, ref, at)
		for _, what := range missing {
			s.found[what] = true
		}
		return
	}
	if root == "publish" {
		v, _ := s.e.Publish(refs.StepName(ref.Traversal, 1), []refs.Reference{ref}, at)
		if v == cty.NilVal {
			return
		}
		ctx := &hcl.EvalContext{Variables: map[string]cty.Value{"it": v}}
		path := append(hcl.Traversal{hcl.TraverseRoot{Name: "it"}}, ref.Traversal[2:]...)
		if part, diags := path.TraverseAbs(ctx); !diags.HasErrors() && !part.IsWhollyKnown() {
			s.found[refs.TraversalString(ref.Traversal)] = true
		}
		return
	}
	if root == "self" && at.Res != nil {
		s.part(at.Res, eval.Want{Steps: ref.Traversal[1:], Open: ref.Open})
		return
	}
	if root != "resource" && root != "module" {
		return
	}
	c := s.e.Choose(root, refs.StepName(ref.Traversal, 1), []refs.Reference{ref}, at)
	if c.Of == nil {
		return
	}
	if c.Of.Pending {
		s.found[refs.TraversalString(ref.Traversal[:2])] = true
		return
	}
	if c.List != nil {
		c.Each(func(i int) {
			for _, w := range c.WantsOf(i) {
				s.part(&c.List[i], w)
			}
		})
	}
	c.EachModule(func(mod *instance.Module) {
		for _, name := range decl.OutputsOf(ref, mod.Decl) {
			if a := mod.Decl.Outputs[name].Attrs["value"]; a != nil {
				s.expr(a.Expr, mod.Scope())
			}
		}
	})
}

// part adds a part of a resource if it is unknown.
func (s unknownSearch) part(i *instance.Instance, w eval.Want) {
	v, _ := s.e.InstanceValue(i, []eval.Want{w})
	ctx := &hcl.EvalContext{Variables: map[string]cty.Value{"it": v}}
	path := append(hcl.Traversal{hcl.TraverseRoot{Name: "it"}}, w.Steps...)
	part, diags := path.TraverseAbs(ctx)
	if diags.HasErrors() || part.IsWhollyKnown() {
		return
	}
	if a := i.Decl.Attrs["config"]; a != nil && len(w.Steps) > 0 && refs.ObjectKey(w.Steps[0]) == "config" {
		inner, _ := refs.Descend(a.Expr, w.Steps[1:])
		s.expr(inner, i.Scope())
		return
	}
	if len(w.Steps) == 0 { // the resource as a whole: its state is the unknown part
		path = append(path, hcl.TraverseAttr{Name: "state"})
	}
	s.found[instance.Reference(i.Address)+strings.TrimPrefix(refs.TraversalString(path), "it")] = true
}
