package mutation_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// compiler checks the types of changed files, with the export data of what they import: go
// build has that in its cache, and a fault takes milliseconds.
type compiler struct {
	t        *testing.T
	module   string // its path
	imports  types.Importer
	packages map[string]*packages.Package // by their path
	parsed   map[string]*ast.File         // without the bodies of functions, by their path
	files    *token.FileSet
}

// newCompiler reads the packages of directories, from the root of a module.
func newCompiler(t *testing.T, root string, dirs map[string]bool) *compiler {
	t.Helper()
	c := &compiler{t: t, module: moduleOf(t, root), packages: map[string]*packages.Package{}, parsed: map[string]*ast.File{}, files: token.NewFileSet()}
	var patterns []string
	for dir := range dirs {
		patterns = append(patterns, "./"+dir)
	}
	mode := packages.NeedName | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps | packages.NeedExportFile
	loaded, err := packages.Load(&packages.Config{Dir: root, Mode: mode}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	packages.Visit(loaded, nil, func(p *packages.Package) { c.packages[p.PkgPath] = p })
	c.imports = importer.ForCompiler(c.files, "gc", func(path string) (io.ReadCloser, error) {
		if p := c.packages[path]; p != nil && p.ExportFile != "" {
			return os.Open(p.ExportFile)
		}
		return nil, fmt.Errorf("there is no export data of %s", path)
	})
	return c
}

// check reports the errors of types in a file, which has another source.
func (c *compiler) check(path string, source []byte) (err error) {
	dir := c.module + "/" + filepath.ToSlash(filepath.Dir(path))
	p := c.packages[dir]
	if p == nil {
		return fmt.Errorf("%s was not loaded", dir)
	}
	changed, err := parser.ParseFile(c.files, path, source, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	all := []*ast.File{changed}
	for _, name := range p.CompiledGoFiles {
		if filepath.Base(name) != filepath.Base(path) {
			all = append(all, c.outline(name))
		}
	}
	config := types.Config{Importer: c.imports, Error: func(found error) {
		var at types.Error
		if errors.As(found, &at) && c.files.Position(at.Pos).Filename == path {
			err = errors.Join(err, found)
		}
	}}
	_, _ = config.Check(dir, c.files, all, nil) // Error has the errors
	return err
}

// moduleOf returns the path of the module at a directory.
func moduleOf(t *testing.T, root string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimPrefix(line, "module ")
}

// outline is a file without the bodies of its functions.
func (c *compiler) outline(name string) *ast.File {
	if f := c.parsed[name]; f != nil {
		return f
	}
	f, err := parser.ParseFile(c.files, name, nil, parser.SkipObjectResolution)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, d := range f.Decls {
		if function, ok := d.(*ast.FuncDecl); ok {
			function.Body = nil
		}
	}
	c.parsed[name] = f
	return f
}

// A fault that compiles is accepted, and a change that leaves a variable unused, or has
// another type, is not.
func TestCompiler_ReportsErrorsOfTypes(t *testing.T) {
	t.Parallel()
	c := newCompiler(t, roots[0], map[string]bool{"internal/testkit/mutation": true})
	path := "internal/testkit/mutation/mutation.go"
	source, err := os.ReadFile(filepath.Join(roots[0], path))
	if err != nil {
		t.Fatal(err)
	}
	for change, want := range map[string]string{
		`return "", os.ErrNotExist`: "", `return "", 3`: "cannot use 3", `x := 1; return "", nil`: "declared and not used: x",
	} {
		err := c.check(path, []byte(strings.Replace(string(source), `return "", os.ErrNotExist`, change, 1)))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", change, err, want)
		}
	}
}
