package gosource

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// File is one Go file of the module.
type File struct {
	Path      string // from the root of the module, with slashes
	Dir       string
	Text      string
	Imports   []string
	Positions *token.FileSet
	Syntax    *ast.File
}

// IsTest reports whether the file is compiled for tests only.
func (f File) IsTest() bool { return strings.HasSuffix(f.Path, "_test.go") }

// others are directories without sources of this module, or with examples.
var others = []string{"bin", "bridge", "kube", "lsp", "release", "docs/examples"}

// Read returns every Go file below the root of the module, but for test data and
// the examples of the documentation, which are programs of their own, and the bridge, kube and lsp,
// which are modules of their own.
func Read(root string) (files []File, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(d.Name(), ".") && rel != "."
		switch {
		case d.IsDir() && (hidden || d.Name() == "testdata" || slices.Contains(others, filepath.ToSlash(rel))):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		f, err := parse(path, filepath.ToSlash(rel))
		files = append(files, f)
		return err
	})
	return files, err
}

func parse(path, rel string) (File, error) {
	f := File{Path: rel, Dir: filepath.ToSlash(filepath.Dir(rel)), Positions: token.NewFileSet()}
	text, err := os.ReadFile(path)
	if err != nil {
		return f, err
	}
	f.Text = string(text)
	if f.Syntax, err = parser.ParseFile(f.Positions, rel, text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
		return f, err
	}
	for _, spec := range f.Syntax.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return f, err
		}
		f.Imports = append(f.Imports, name)
	}
	return f, nil
}
