package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// unknownRefs are the references to states in an expression whose values are
// not known, sorted, each once.
func (e *evaluator) unknownRefs(expr hcl.Expression, at site) []string {
	found := map[string]bool{}
	e.collectUnknown(expr, at, found, map[visited]bool{})
	return slices.Sorted(maps.Keys(found))
}

// visited is an expression that was looked at, and where.
type visited struct {
	expr hcl.Expression
	at   site
}

func (e *evaluator) collectUnknown(expr hcl.Expression, at site, found map[string]bool, seen map[visited]bool) {
	if seen[visited{expr, at}] {
		return
	}
	seen[visited{expr, at}] = true
	if e.m.impure == nil {
		for _, name := range e.m.refs.volatileCalls(expr) {
			found[name+"()"] = true
		}
	}
	for _, ref := range e.m.refs.references(expr) {
		next, nextAt, rest := e.source(ref, at)
		if next == nil {
			e.unknownRef(rest, nextAt, found, seen)
			continue
		}
		e.collectUnknown(next, nextAt, found, seen)
	}
}

// unknownRef adds a reference to states if what it reads is not known.
func (e *evaluator) unknownRef(ref reference, at site, found map[string]bool, seen map[visited]bool) {
	root := ref.t.RootName()
	if root == "dep" {
		if at.res != nil && at.res.aliases[stepName(ref.t, 1)].to != nil {
			e.unknownPart(at.res.aliases[stepName(ref.t, 1)].to, want{steps: ref.t[2:], open: ref.open}, found, seen)
		}
		return
	}
	if root == "self" && at.res != nil {
		e.unknownPart(at.res, want{steps: ref.t[1:], open: ref.open}, found, seen)
		return
	}
	if root != "resource" && root != "module" {
		return
	}
	s := e.choose(root, stepName(ref.t, 1), []reference{ref}, at)
	if s.of == nil {
		return
	}
	if s.of.pending {
		found[traversalString(ref.t[:2])] = true
		return
	}
	if s.list != nil {
		s.each(func(i int) {
			for _, w := range s.wantsOf(i) {
				e.unknownPart(&s.list[i], w, found, seen)
			}
		})
	}
	s.eachModule(func(mod *module) {
		for _, name := range outputsOf(ref, mod.block) {
			if a := mod.block.outputs[name].attrs["value"]; a != nil {
				e.collectUnknown(a.Expr, mod.site(), found, seen)
			}
		}
	})
}

// unknownPart adds a part of a resource if it is not known.
func (e *evaluator) unknownPart(i *instance, w want, found map[string]bool, seen map[visited]bool) {
	v, _ := e.instanceValue(i, []want{w})
	ctx := &hcl.EvalContext{Variables: map[string]cty.Value{"it": v}}
	path := append(hcl.Traversal{hcl.TraverseRoot{Name: "it"}}, w.steps...)
	part, diags := path.TraverseAbs(ctx)
	if diags.HasErrors() || part.IsWhollyKnown() {
		return
	}
	if a := i.block.attrs["config"]; a != nil && len(w.steps) > 0 && objectKey(w.steps[0]) == "config" {
		inner, _ := descend(a.Expr, w.steps[1:])
		e.collectUnknown(inner, i.site(), found, seen)
		return
	}
	if len(w.steps) == 0 { // the resource as a whole: it is its state that is not known
		path = append(path, hcl.TraverseAttr{Name: "state"})
	}
	found[Reference(i.Address)+strings.TrimPrefix(traversalString(path), "it")] = true
}
