package mutation

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Sources are the packages of a module, each parsed once.
type Sources struct {
	Root     string // the directory of go.mod
	files    *token.FileSet
	packages map[string][]*file
}

// NewSources are those of the module at a directory.
func NewSources(root string) *Sources {
	return &Sources{Root: root, files: token.NewFileSet(), packages: map[string][]*file{}}
}

type file struct {
	path   string // from the root of the module
	source []byte
	tree   *ast.File
}

// of returns the files of a package that Linux builds, also its tests.
func (s *Sources) of(pkg string) ([]*file, error) {
	if list, known := s.packages[pkg]; known {
		return list, nil
	}
	dir := filepath.Join(s.Root, filepath.FromSlash(pkg))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	target := build.Default
	target.GOOS, target.GOARCH = "linux", "amd64"
	var list []*file
	for _, e := range entries {
		if ok, err := target.MatchFile(dir, e.Name()); err != nil || !ok || !strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		source, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		tree, err := parser.ParseFile(s.files, filepath.Join(dir, e.Name()), source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		list = append(list, &file{path: filepath.ToSlash(filepath.Join(pkg, e.Name())), source: source, tree: tree})
	}
	s.packages[pkg] = list
	return list, nil
}

// declaration finds a function, a method as Type.method, a type, or a variable.
func (s *Sources) declaration(pkg, name string) (*file, ast.Node, error) {
	list, err := s.of(pkg)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range list {
		for _, d := range f.tree.Decls {
			for _, spec := range specs(d) {
				if slices.Contains(declared(spec), name) {
					return f, spec, nil
				}
			}
		}
	}
	return nil, nil, fmt.Errorf("package %s does not declare %s", pkg, name)
}

func specs(d ast.Decl) []ast.Node {
	if group, ok := d.(*ast.GenDecl); ok {
		return widened(group.Specs)
	}
	return []ast.Node{d}
}

// declared are the names that a declaration gives.
func declared(n ast.Node) (names []string) {
	switch n := n.(type) {
	case *ast.FuncDecl:
		if n.Recv == nil {
			return []string{n.Name.Name}
		}
		receiver := n.Recv.List[0].Type
		if pointer, ok := receiver.(*ast.StarExpr); ok {
			receiver = pointer.X
		}
		return []string{called(receiver) + "." + n.Name.Name}
	case *ast.TypeSpec:
		return []string{n.Name.Name}
	case *ast.ValueSpec:
		for _, name := range n.Names {
			names = append(names, name.Name)
		}
	}
	return names
}

// locals are the variables of a function. A place does not know their names: they may change.
func locals(declaration ast.Node) map[string]bool {
	names := map[string]bool{"_": true}
	add := func(list ...ast.Expr) {
		for _, e := range list {
			if id, ok := e.(*ast.Ident); ok {
				names[id.Name] = true
			}
		}
	}
	fields := func(list *ast.FieldList) {
		if list == nil {
			return
		}
		for _, f := range list.List {
			for _, name := range f.Names {
				add(name)
			}
		}
	}
	ast.Inspect(declaration, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			fields(n.Recv)
		case *ast.FuncType:
			fields(n.Params)
			fields(n.Results)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				add(n.Lhs...)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				add(n.Key, n.Value)
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				add(name)
			}
		case *ast.LabeledStmt:
			add(n.Label)
		}
		return true
	})
	return names
}

// mentions are the names and literals in code, without those of local variables.
func mentions(code []ast.Node, locals map[string]bool) map[string]bool {
	names := map[string]bool{}
	for _, root := range code {
		ast.Inspect(root, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				names[n.Sel.Name] = true
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok {
					names[key.Name] = true
				}
			case *ast.Field:
				for _, name := range n.Names {
					names[name.Name] = true
				}
			case *ast.BasicLit:
				names[n.Value] = true
			case *ast.Ident:
				if !locals[n.Name] {
					names[n.Name] = true
				}
			}
			return true
		})
	}
	return names
}
