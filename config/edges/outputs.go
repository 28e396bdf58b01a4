package edges

import (
	"maps"
	"slices"

	"deployster/config/eval"
	"deployster/config/instance"
)

// Reach is what a value depends on.
type Reach struct {
	Resources []string // addresses, sorted
	WaitsFor  []string // the blocks of Pending and the artifacts without a version yet that it depends on, sorted
	Artifacts []string // names, sorted
}

// CheckedArtifacts returns the names of the artifacts that check blocks refer to, sorted.
func CheckedArtifacts(m *eval.Modules) []string {
	in := &depSet{}
	e := m.Evaluator(nil)
	e.Dry = true
	r := &collector{e: e, done: map[eval.MemoKey]*depSet{}}
	m.Top.Each(func(mod *instance.Module) {
		for _, check := range mod.Decl.Checks {
			for _, c := range check.Asserts {
				r.expr(c.Expr, mod.Checking(check), in)
				r.expr(c.Message, mod.Checking(check), in)
			}
			for _, l := range check.Lookups {
				for _, expr := range l.Expressions() {
					r.expr(expr, mod.Scope(), in)
				}
			}
		}
	})
	return slices.Sorted(maps.Keys(in.files))
}

// OutputReach returns, by the name of each output, what its value, its preconditions
// and its depends_on refer to.
func OutputReach(m *eval.Modules) map[string]Reach {
	found := map[string]Reach{}
	e := m.Evaluator(nil)
	e.Dry = true
	r := &collector{e: e, done: map[eval.MemoKey]*depSet{}}
	for name, b := range m.Top.Decl.Outputs {
		in := &depSet{}
		if a := b.Attrs["value"]; a != nil {
			r.expr(a.Expr, m.Top.Scope(), in)
		}
		for _, t := range b.DependsOn {
			r.dependency(t, m.Top.Scope(), in)
		}
		for _, c := range b.Before {
			r.expr(c.Expr, m.Top.Scope(), in)
			r.expr(c.Message, m.Top.Scope(), in)
		}
		for artifact := range in.files {
			if _, known := m.ArtifactValues[artifact]; !known {
				in.waitFor("artifact." + artifact)
			}
		}
		found[name] = Reach{in.addresses(), slices.Sorted(maps.Keys(in.waits)), slices.Sorted(maps.Keys(in.files))}
	}
	return found
}
