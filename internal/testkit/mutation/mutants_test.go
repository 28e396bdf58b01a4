package mutation_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Each fault replaces a text that its file has exactly once. Which is seen here,
// and not only when the mutants are built, which takes long.
func TestMutants_NameTextsThatAreThere(t *testing.T) {
	t.Parallel()
	const root = "../../.."
	var lists []string
	for _, pattern := range []string{"internal/testkit/*/mutants_test.go", "plan/*/mutants_test.go", "internal/base/sharedlog/mutants_test.go", "internal/app/artifacts/mutants_test.go", "internal/app/watch/mutants_test.go", "apply/checks_test.go"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %q, %v", pattern, found, err)
		}
		lists = append(lists, found...)
	}
	seen := 0
	for _, path := range lists {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range faults(t, file) {
			seen++
			source, err := os.ReadFile(filepath.Join(root, m.file))
			if err != nil {
				t.Errorf("%s: %v", m.name, err)
			} else if n := strings.Count(string(source), m.old); n != 1 {
				t.Errorf("%s: %s has %d times %q", m.name, m.file, n, m.old)
			}
		}
	}
	if seen < 150 {
		t.Errorf("only %d faults were looked at in %q", seen, lists)
	}
}

type fault struct{ name, file, old string }

// faults are those that a file of tests makes with mutation.In, or with a function
// at that puts a directory before the file and calls it.
func faults(t *testing.T, file *ast.File) (list []fault) {
	t.Helper()
	directory := ""
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 4 {
			return true
		}
		before := ""
		switch fun := call.Fun.(type) {
		case *ast.Ident:
			if before = directory; fun.Name != "at" {
				return true
			}
		case *ast.SelectorExpr:
			if fun.Sel.Name != "In" {
				return true
			}
			if path, put := call.Args[1].(*ast.BinaryExpr); put {
				if literal, ok := path.X.(*ast.BasicLit); ok {
					directory, _ = strconv.Unquote(literal.Value)
				}
				return true
			}
		default:
			return true
		}
		var texts [3]string
		for i := range texts {
			literal, ok := call.Args[i].(*ast.BasicLit)
			if !ok {
				t.Errorf("argument %d of a fault is no text", i)
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Error(err)
			}
			texts[i] = text
		}
		list = append(list, fault{texts[0], before + texts[1], texts[2]})
		return true
	})
	return list
}
