package planpage

import (
	"maps"
	"slices"
	"strings"
)

// module is a module with its content.
type module struct {
	Path, Name text
	First      text // the address of a resource
	Changes    int  // the number of resources that change, including those in nested modules
	All        int  // the number of all resources
	Inside     []*module
}

// maxModules is the maximum number of modules that are listed.
const maxModules = 1000

// modules returns the tree of modules, in the order of their names; nil = there are none.
func (v *view) modules() *module {
	root := &module{Name: "(root)"}
	byPath := map[string]*module{"": root}
	for _, addr := range slices.Sorted(maps.Keys(v.plan.Resources)) {
		group, _ := SplitModules(addr)
		at, line := root, []*module{root}
		for i := range group {
			path := strings.Join(group[:i+1], ".")
			if byPath[path] == nil {
				if len(byPath) > maxModules {
					break
				}
				byPath[path] = &module{Path: v.text(path), Name: v.text(strings.TrimPrefix(group[i], "module."))}
				at.Inside = append(at.Inside, byPath[path])
			}
			at = byPath[path]
			line = append(line, at)
		}
		for _, m := range line {
			if m.All++; m.First == "" {
				m.First = v.text(addr)
			}
			if !v.plan.Resources[addr].Quiet() {
				m.Changes++
			}
		}
	}
	if len(root.Inside) == 0 {
		return nil
	}
	return root
}
