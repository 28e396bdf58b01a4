package house

import (
	"cmp"
	"errors"
	"fmt"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Type is a named type of the module that has methods.
type Type struct {
	Name string // with its package, from the root of the module: plan.builder
	// Methods counts the methods of a pointer to the type, those of embedded types
	// included, but for fields of other modules. Functions counts the functions of its
	// package that take such a pointer first, or after a context.
	Methods, Functions int
	// Wrapper reports a struct whose only field is an embedded pointer.
	Wrapper bool
}

// Size is what one who changes the type has to know.
func (t Type) Size() int { return t.Methods + t.Functions }

// Package is a package of the module.
type Package struct {
	Name    string
	Imports int // packages of this module
	// Root reports a composition root: a main package, or one that only main packages import.
	// It makes the parts of a program, and gives them to one another.
	Root bool
}

// House is what was measured, the largest first.
type House struct {
	Types    []Type
	Packages []Package
}

// Measure reads the packages of the module at root, without their tests.
func Measure(root string) (h House, err error) {
	loaded, err := packages.Load(&packages.Config{
		Dir:  root,
		Mode: packages.LoadSyntax | packages.NeedModule,
	}, "./...")
	if err != nil {
		return h, err
	}
	roots := rootsOf(loaded)
	for _, p := range loaded {
		for _, e := range p.Errors {
			err = errors.Join(err, fmt.Errorf("%s: %w", p.PkgPath, e))
		}
		if p.Module == nil || err != nil {
			continue
		}
		m := module(p.Module.Path)
		h.Packages = append(h.Packages, Package{m.short(p.PkgPath), m.imports(p), roots[p.PkgPath]})
		h.Types = append(h.Types, m.typesOf(p.Types)...)
	}
	slices.SortFunc(h.Types, func(a, b Type) int { return cmp.Or(b.Size()-a.Size(), strings.Compare(a.Name, b.Name)) })
	slices.SortFunc(h.Packages, func(a, b Package) int { return cmp.Or(b.Imports-a.Imports, strings.Compare(a.Name, b.Name)) })
	return h, err
}

// rootsOf returns the paths of the main packages, and of those that only main packages import.
func rootsOf(loaded []*packages.Package) map[string]bool {
	roots, shared := map[string]bool{}, map[string]bool{}
	for _, p := range loaded {
		roots[p.PkgPath] = roots[p.PkgPath] || p.Name == "main"
		for path := range p.Imports {
			roots[path] = roots[path] || p.Name == "main"
			shared[path] = shared[path] || p.Name != "main"
		}
	}
	maps.DeleteFunc(roots, func(path string, root bool) bool { return !root || shared[path] })
	return roots
}

// module is the path of a module.
type module string

func (m module) has(path string) bool { return strings.HasPrefix(path, string(m)+"/") }

// short is the path of a package from the root of the module; "." is the root.
func (m module) short(path string) string {
	return cmp.Or(strings.TrimPrefix(strings.TrimPrefix(path, string(m)), "/"), ".")
}

func (m module) imports(p *packages.Package) (n int) {
	for path := range p.Imports {
		if m.has(path) {
			n++
		}
	}
	return n
}

func (m module) typesOf(p *types.Package) (list []Type) {
	functions := map[*types.TypeName]int{}
	for _, name := range p.Scope().Names() {
		if f, ok := p.Scope().Lookup(name).(*types.Func); ok {
			if subject := first(f.Signature(), p); subject != nil {
				functions[subject]++
			}
		}
	}
	for _, name := range p.Scope().Names() {
		object, ok := p.Scope().Lookup(name).(*types.TypeName)
		if !ok || object.IsAlias() || types.IsInterface(object.Type()) {
			continue
		}
		t := Type{Name: m.short(p.Path()) + "." + name, Functions: functions[object], Wrapper: wraps(object.Type())}
		methods := types.NewMethodSet(types.NewPointer(object.Type()))
		for i := range methods.Len() {
			if of := methods.At(i).Obj().Pkg(); of != nil && m.has(of.Path()) {
				t.Methods++
			}
		}
		if t.Size() > 0 || t.Wrapper {
			list = append(list, t)
		}
	}
	return list
}

// first is the type of p to which the first parameter points that is no context.
func first(s *types.Signature, p *types.Package) *types.TypeName {
	for v := range s.Params().Variables() {
		if v.Type().String() == "context.Context" {
			continue
		}
		if pointer, ok := v.Type().(*types.Pointer); ok {
			if named, ok := pointer.Elem().(*types.Named); ok && named.Obj().Pkg() == p {
				return named.Obj()
			}
		}
		return nil
	}
	return nil
}

// wraps reports whether a struct is an embedded pointer and nothing else.
func wraps(t types.Type) bool {
	s, ok := t.Underlying().(*types.Struct)
	if !ok || s.NumFields() != 1 || !s.Field(0).Embedded() {
		return false
	}
	_, pointer := s.Field(0).Type().(*types.Pointer)
	return pointer
}
