package project

import (
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// Resolve returns the symbol that a reference names, where it is declared: in this directory, by the module that
// it goes through, or for a type by a caller.
func (v *View) Resolve(r Ref) Symbol {
	s := r.Symbol
	if r.Via != "" {
		for _, c := range v.Calls(s.Dir) {
			if c.Name == r.Via {
				s.Dir = c.Dir
				return s
			}
		}
		return Symbol{}
	}
	if s.Kind != Type {
		return s
	}
	found, ok := v.types[s]
	if !ok {
		found = v.typeOf(s, map[string]bool{})
		v.types[s] = found
	}
	return found
}

// typeOf returns the type block that a name means in a directory: its own, or that of a caller.
func (v *View) typeOf(s Symbol, seen map[string]bool) Symbol {
	if seen[s.Dir] || len(v.Declared(s)) > 0 {
		return s
	}
	seen[s.Dir] = true
	for _, c := range v.Callers(s.Dir) {
		above := v.typeOf(Symbol{c.From, s.Kind, s.Name}, seen)
		if len(v.Declared(above)) > 0 {
			return above
		}
	}
	return s
}

// References returns the references to a symbol, sorted by file and place. Addresses in moved and removed blocks
// are among them, with Moved set.
func (v *View) References(s Symbol) (list []Ref) {
	dirs := []string{s.Dir}
	switch s.Kind {
	case Variable, Output:
		for _, c := range v.Callers(s.Dir) {
			dirs = append(dirs, c.From)
		}
	case Type:
		dirs = append(dirs, v.Dirs()...)
	}
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		for _, file := range v.In(dir) {
			for _, r := range file.Refs {
				if r.Kind == s.Kind && r.Name == s.Name && v.Resolve(r) == s {
					list = append(list, r)
				}
			}
		}
	}
	return list
}

// At returns the symbol at an offset of a file, and the place of its name; false = there is none.
func (v *View) At(file *File, offset int) (Symbol, hcl.Range, bool) {
	inside := func(r hcl.Range) bool { return r.Start.Byte <= offset && offset <= r.End.Byte }
	for _, d := range file.Decls {
		if inside(d.At) {
			return d.Symbol, d.At, true
		}
	}
	for _, r := range file.Refs {
		if inside(r.At) {
			s := v.Resolve(r)
			return s, r.At, s.Dir != ""
		}
	}
	for _, r := range file.Refs { // resource.web: also at the first word
		if inside(r.Whole) && r.Via == "" {
			s := v.Resolve(r)
			return s, r.At, s.Dir != ""
		}
	}
	return Symbol{}, hcl.Range{}, false
}

// SourceAt returns the directory of the module whose source is at an offset of a file; "" = there is none.
func (v *View) SourceAt(file *File, offset int) string {
	for _, d := range file.Decls {
		if d.Kind != Module || d.Block == nil {
			continue
		}
		a := d.Block.Body.Attributes["source"]
		if a != nil && a.SrcRange.Start.Byte <= offset && offset <= a.SrcRange.End.Byte {
			for _, c := range v.Calls(filepath.Dir(file.Path)) {
				if c.Name == d.Name {
					return c.Dir
				}
			}
		}
	}
	return ""
}
