package config

import (
	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
)

// Locate says where the value at a JSON pointer of a resource's config is
// written: the nearest enclosing thing that is, if not exactly. It is nil when
// there is no such resource.
func (m *Manifest) Locate(addr, pointer string) *diag.Range {
	i := m.find(addr)
	if i == nil {
		return nil
	}
	place := fromHCL(i.block.at)
	a := i.block.attrs["config"]
	if a == nil {
		return &place
	}
	e := m.evaluator(nil)
	expr, at := a.Expr, i.site()
	steps := jsondoc.Pointer(pointer)
	for hops := 0; hops < maxChain; hops++ {
		expr = unparen(expr)
		if len(steps) > 0 {
			if next := child(expr, steps[0]); next != nil {
				expr, steps = next, steps[1:]
				continue
			}
		}
		next, nextAt, ok := e.follow(expr, at)
		if !ok || len(steps) == 0 {
			break
		}
		expr, at = next, nextAt
	}
	place = fromHCL(expr.Range())
	return &place
}
