package expand

import (
	"strings"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/decl"
	"deployster/config/instance"
	"deployster/config/source"
)

// Moved returns the moved blocks, in the order of their files.
func (m *Instances) Moved() []decl.Moved {
	var out []decl.Moved
	m.Modules.Top.Each(func(mod *instance.Module) {
		for _, b := range mod.Decl.Moved {
			v := b.Moved
			v.From, v.To = mod.Join(v.From), mod.Join(v.To)
			out = append(out, v)
		}
	})
	return out
}

// checkMoved returns an error for each moved block of a module that contradicts the
// manifest or another moved block.
func (m *Instances) checkMoved(mod *instance.Module) hcl.Diagnostics {
	var diags hcl.Diagnostics
	from, to := map[string]*decl.MovedBlock{}, map[string]*decl.MovedBlock{}
	for _, v := range mod.Decl.Moved {
		if first := from[v.From]; first != nil {
			diags = append(diags, source.Failure(v.FromTarget.At, "Moved twice",
				"%s is moved already, to %s, at %s:%d. It can go to one place only: remove one of the blocks.",
				v.From, first.To, first.At.Filename, first.At.Start.Line))
			continue
		}
		from[v.From] = v
		if first := to[v.To]; first != nil {
			diags = append(diags, source.Failure(v.ToTarget.At, "Moved to one address",
				"%s is moved to %s already, at %s:%d. Two cannot have one address: remove one of the blocks.",
				first.From, v.To, first.At.Filename, first.At.Start.Line))
			continue
		}
		to[v.To] = v
		if at, there := m.stillDeclared(mod, v.FromTarget.Address, v.ToTarget.Address); there {
			diags = append(diags, source.Failure(v.FromTarget.At, "Moved, and still declared",
				"This block moves %s to %s, but %s is still declared, at %s:%d. Rename that block, or remove the moved block.",
				v.From, v.To, v.From, at.Filename, at.Start.Line))
		}
	}
	return append(diags, cyclesOf(mod.Decl.Moved, from)...)
}

// cyclesOf returns an error for each cycle of moved blocks.
func cyclesOf(list []*decl.MovedBlock, from map[string]*decl.MovedBlock) hcl.Diagnostics {
	var diags hcl.Diagnostics
	reported := map[*decl.MovedBlock]bool{}
	for _, v := range list {
		path := []string{v.From}
		for next := v; next != nil && len(path) <= len(list)+1 && !reported[next]; next = from[next.To] {
			path = append(path, next.To)
			if next.To != v.From {
				continue
			}
			for _, address := range path[:len(path)-1] {
				reported[from[address]] = true
			}
			diags = append(diags, source.Failure(v.FromTarget.At, "Cycle of moved blocks",
				"These moved blocks form a cycle: %s. Remove one of them.", strings.Join(path, " to ")))
			break
		}
	}
	return diags
}

// stillDeclared returns the place of the resource or module block at an address, if
// it is declared.
func (m *Instances) stillDeclared(mod *instance.Module, address, to string) (hcl.Range, bool) {
	if at, there := blockAt(mod.Decl, address, to); there {
		return at, true
	}
	if i := m.Find(mod.Join(address)); i != nil {
		return i.Decl.At, true
	}
	for _, set := range mod.Children {
		for _, child := range set.List {
			if rest, inside := strings.CutPrefix(mod.Join(address), child.Address+"."); inside {
				return m.stillDeclared(child, rest, strings.TrimPrefix(mod.Join(to), child.Address+"."))
			}
		}
	}
	return hcl.Range{}, false
}

// blockAt returns the block of an address without keys, in this module or in one
// below. It is not a contradiction if the block got for_each or count, and its former
// resource becomes one of the instances.
func blockAt(b *decl.Module, address, to string) (hcl.Range, bool) {
	becomes := strings.HasPrefix(to, address+"[")
	if r := b.Resources[address]; r != nil && !(r.Repeats() && becomes) {
		return r.At, true
	}
	path, isModule := strings.CutPrefix(address, "module.")
	name, rest, inside := strings.Cut(path, ".")
	c := b.Calls[name]
	switch {
	case !isModule || c == nil || c.Repeats() && strings.HasPrefix(to, "module."+name+"["):
		return hcl.Range{}, false
	case !inside:
		return c.At, true
	case b.Children[name] == nil:
		return hcl.Range{}, false
	}
	return blockAt(b.Children[name], rest, strings.TrimPrefix(to, "module."+name+"."))
}
