package decl

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/refs"
	"deployster/config/source"
	"deployster/internal/base/words"
)

// semaphoreNames decodes `semaphores = [semaphore.NAME]`.
func (l *loader) semaphoreNames(a *hcl.Attribute) []Named {
	if a == nil {
		return nil
	}
	items, bad := hcl.ExprList(refs.Unparen(a.Expr))
	if bad.HasErrors() {
		l.add(source.Failure(a.Expr.Range(), "Invalid semaphores", "It is a list of semaphores: semaphores = [semaphore.NAME]."))
		return nil
	}
	var out []Named
	for _, item := range items {
		t, bad := hcl.AbsTraversalForExpr(refs.Unparen(item))
		if bad.HasErrors() || t.RootName() != "semaphore" || len(t) != 2 || refs.StepName(t, 1) == "" {
			l.add(source.Failure(item.Range(), "Not a semaphore", "An element of semaphores names a block of the root "+
				"manifest: semaphore.NAME."))
			continue
		}
		out = append(out, Named{Name: refs.StepName(t, 1), At: item.Range()})
	}
	return out
}

// Named is a name and its place.
type Named struct {
	Name string
	At   hcl.Range
}

// UnknownSemaphores returns an error for each semaphore that a resource of the module names and that is not declared.
func (b *Module) UnknownSemaphores() (diags hcl.Diagnostics) {
	there := b.Root().Semaphores
	for _, name := range slices.Sorted(maps.Keys(b.Resources)) {
		for _, s := range b.Resources[name].Semaphores {
			if there[s.Name] == nil {
				diags = append(diags, source.Failure(s.At, "Unknown semaphore", "There is no semaphore %q.%s Declare it with a semaphore "+
					"block in the root manifest, or correct the name.", s.Name, words.DidYouMean(s.Name, slices.Sorted(maps.Keys(there)))))
			}
		}
	}
	return diags
}
