package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"deployster/internal/testkit/gosource"
)

// A struct whose only field points to another struct of its package is a second set of methods for that one, which a limit of
// methods does not see: it becomes a value with data of its own, or its methods go to where the data is. Exempt are errors, of
// which one that carries a value is complete with it, and parts of documents: a member of an object in JSON has a tag.
func TestStructs_HaveDataOfTheirOwn(t *testing.T) {
	t.Parallel()
	if found := lenses(limited(t)); len(found) > 0 {
		t.Errorf("these are only a pointer to a struct of their package: give each data of its own, or move its methods: %s",
			strings.Join(found, ", "))
	}
}

func TestLenses_AreFound(t *testing.T) {
	t.Parallel()
	const text = `package p
type data struct{ n, m int }
type (
	named    struct{ of *data }
	embedded struct{ *data }
	several  struct{ a, b *data }
	more     struct { of *data; n int }
	other    struct{ of *ast.File }
	document struct { Of *data ` + "`json:\"of\"`" + ` }
	failure  struct{ of *data }
	list     []*data
)
func (f *failure) Error() string { return "" }
func local() { type inside struct{ of *data } }
`
	positions := token.NewFileSet()
	syntax, err := parser.ParseFile(positions, "p.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := lenses([]gosource.File{{Path: "p/p.go", Dir: "p", Text: text, Positions: positions, Syntax: syntax}})
	if want := []string{"p.embedded", "p.inside", "p.named"}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}

// lenses returns the named structs whose only field is a pointer to a named struct of the same package.
func lenses(files []gosource.File) (found []string) {
	structs, errors := map[string]bool{}, map[string]bool{}
	for _, s := range files {
		for _, d := range s.Syntax.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if t, ok := spec.(*ast.TypeSpec); ok {
						_, isStruct := t.Type.(*ast.StructType)
						structs[s.Dir+"."+t.Name.Name] = isStruct
					}
				}
			case *ast.FuncDecl:
				if d.Recv != nil && d.Name.Name == "Error" {
					errors[s.Dir+"."+pointed(d.Recv.List[0].Type)] = true
				}
			}
		}
	}
	for _, s := range files {
		ast.Inspect(s.Syntax, func(n ast.Node) bool {
			t, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			name := s.Dir + "." + t.Name.Name
			if of, ok := t.Type.(*ast.StructType); ok && of.Fields != nil && len(of.Fields.List) == 1 && len(of.Fields.List[0].Names) < 2 &&
				of.Fields.List[0].Tag == nil && !errors[name] {
				if field, isPointer := of.Fields.List[0].Type.(*ast.StarExpr); isPointer && structs[s.Dir+"."+pointed(field)] {
					found = append(found, name)
				}
			}
			return true
		})
	}
	slices.Sort(found)
	return found
}

// pointed returns the name of a type, or of what a pointer to it points to; "" = it is of another package.
func pointed(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return pointed(e.X)
	case *ast.IndexExpr: // with a type parameter
		return pointed(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
