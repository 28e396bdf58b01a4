package config

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// moved returns the moved blocks, in the order of their files.
func (m *instances) moved() []Moved {
	var out []Moved
	m.top.each(func(mod *module) {
		for _, b := range mod.block.moved {
			v := b.Moved
			v.From, v.To = mod.join(v.From), mod.join(v.To)
			out = append(out, v)
		}
	})
	return out
}

// checkMoved finds moved blocks of a module that contradict the manifest or each
// other.
func (m *instances) checkMoved(mod *module) hcl.Diagnostics {
	var diags hcl.Diagnostics
	from, to := map[string]*moved{}, map[string]*moved{}
	for _, v := range mod.block.moved {
		if first := from[v.From]; first != nil {
			diags = append(diags, failure(v.from.at, "Moved twice", "%s is moved already, to %s, at %s:%d. It can go to one place only: remove one of the blocks.",
				v.From, first.To, first.at.Filename, first.at.Start.Line))
			continue
		}
		from[v.From] = v
		if first := to[v.To]; first != nil {
			diags = append(diags, failure(v.to.at, "Moved to one place", "%s is moved to %s already, at %s:%d. Two cannot have one address: remove one of the blocks.",
				first.From, v.To, first.at.Filename, first.at.Start.Line))
			continue
		}
		to[v.To] = v
		if at, there := m.stillDeclared(mod, v.from.address, v.to.address); there {
			diags = append(diags, failure(v.from.at, "Moved, and still there",
				"This says that %s is now %s, but %s is still declared, at %s:%d. Rename that block to what it is now, or remove the moved block.",
				v.From, v.To, v.From, at.Filename, at.Start.Line))
		}
	}
	return append(diags, circles(mod.block.moved, from)...)
}

// circles finds moved blocks that lead back to where they begin.
func circles(list []*moved, from map[string]*moved) hcl.Diagnostics {
	var diags hcl.Diagnostics
	said := map[*moved]bool{}
	for _, v := range list {
		path := []string{v.From}
		for next := v; next != nil && len(path) <= len(list)+1 && !said[next]; next = from[next.To] {
			path = append(path, next.To)
			if next.To != v.From {
				continue
			}
			for _, on := range path[:len(path)-1] {
				said[from[on]] = true
			}
			diags = append(diags, failure(v.from.at, "Moved in a circle", "These moved blocks lead back to where they begin: %s. Remove one of them.", strings.Join(path, " to ")))
			break
		}
	}
	return diags
}

// stillDeclared says where an address is declared, if it is: a resource, or a
// block. That a block got for_each or count, and what it made before becomes one
// of the instances, is no contradiction.
func (m *instances) stillDeclared(mod *module, address, to string) (hcl.Range, bool) {
	becomes := strings.HasPrefix(to, address+"[")
	if r := mod.block.resources[address]; r != nil && !(r.repeats() && becomes) {
		return r.at, true
	}
	if c := mod.block.calls[strings.TrimPrefix(address, "module.")]; c != nil && address != c.name && !(c.repeats() && becomes) {
		return c.at, true
	}
	if i := m.find(mod.join(address)); i != nil {
		return i.block.at, true
	}
	return hcl.Range{}, false
}
