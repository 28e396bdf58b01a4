package edges

import (
	"deployster/config/eval"
	"deployster/config/instance"
	"deployster/config/refs"
)

// module returns what everything in a module depends on: the depends_on of the blocks
// that call it, and their for_each or count.
func (r *collector) module(mod *instance.Module) *depSet {
	if mod.Caller == nil {
		return &depSet{}
	}
	return r.named(eval.MemoKey{Kind: eval.KindModule, Mod: mod}, func(into *depSet) {
		for _, t := range mod.Decl.Call.DependsOn {
			r.dependency(t, mod.Inputs(), into)
		}
		r.repetition(mod.At.Of, into)
		into.merge(r.module(mod.Caller))
	})
}

// repetition adds what the for_each or count of a block depends on. If its value is known
// without a state, that is what the modules depend on that it reads, also through locals
// and variables.
func (r *collector) repetition(x *instance.Expansion, into *depSet) {
	switch {
	case x == nil:
	case x.Learned:
		r.expr(x.Expr, x.Scope(), into)
	default:
		for _, ref := range r.e.M.Refs.References(x.Expr) {
			name, within := refs.StepName(ref.Traversal, 1), x.Scope().Mod.Decl
			switch ref.Traversal.RootName() {
			case "module":
				s := r.e.Choose("module", name, []refs.Reference{ref}, x.Scope())
				s.EachModule(func(mod *instance.Module) { into.merge(r.module(mod)) })
			case "local":
				if l := within.Locals[name]; l != nil && !l.NeedsState { // else its dependencies are added elsewhere
					r.ref(ref, x.Scope(), into)
				}
			case "var":
				if v := within.Variables[name]; v != nil && !v.NeedsState {
					r.ref(ref, x.Scope(), into)
				}
			}
		}
	}
}
