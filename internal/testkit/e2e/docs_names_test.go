package e2e

import (
	"go/ast"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deployster/internal/testkit/gosource"
)

// goFiles returns every Go file of the module.
func goFiles(t *testing.T) []gosource.File {
	t.Helper()
	moduleRoot(t)
	files, err := gosource.Read(".")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 100 {
		t.Fatalf("only %d Go files were found", len(files))
	}
	return files
}

// docs/dependencies.md lists what is imported and nothing else.
func TestDocs_Dependencies(t *testing.T) {
	t.Parallel()
	used, mod := map[string]bool{}, read(t, "go.mod")+read(t, "release/go.mod")+read(t, "lsp/go.mod")
	_, tools, _ := strings.Cut(mod, "\ntool (")
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(read(t, "docs/dependencies.md"), -1) {
		used[m[1]] = strings.Contains(tools, m[1])
		if !strings.Contains(mod, m[1]+" v") {
			t.Errorf("%s is not in go.mod", m[1])
		}
	}
	published, err := gosource.Read("release") // a module of its own
	if err != nil || len(published) < 4 {
		t.Fatalf("%d files of the release were read, %v", len(published), err)
	}
	editors, err := gosource.Read("lsp") // too
	if err != nil || len(editors) < 10 {
		t.Fatalf("%d files of the language server were read, %v", len(editors), err)
	}
	for _, f := range slices.Concat(goFiles(t), published, editors) {
		for _, imported := range f.Imports {
			if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
				continue // ours, or the standard library's
			}
			known := false
			for module := range used {
				if imported == module || strings.HasPrefix(imported, module+"/") {
					used[module], known = true, true
				}
			}
			if !known {
				t.Errorf("%s imports %s, which is not on the page", f.Path, imported)
			}
		}
	}
	for module, yes := range used {
		if !yes {
			t.Errorf("%s is on the page and not used", module)
		}
	}
}

// declared is what the module's files declare.
type declared struct {
	tests   map[string]bool            // TestName, FuzzName, BenchmarkName
	files   map[string]bool            // base names
	symbols map[string]map[string]bool // of each package, by its name: Func, Type, Type.Method, Type.Field
}

func declarations(t *testing.T) declared {
	t.Helper()
	d := declared{tests: map[string]bool{}, files: map[string]bool{}, symbols: map[string]map[string]bool{}}
	for _, module := range []string{"bridge", "kube", "lsp"} { // modules of their own
		files, err := gosource.Read(module)
		if err != nil || len(files) < 10 {
			t.Fatalf("%d files of %s were read, %v", len(files), module, err)
		}
		for _, f := range files {
			for _, decl := range f.Syntax.Decls {
				for _, name := range declaredBy(decl) {
					d.tests[name] = d.tests[name] || testName.MatchString(name)
				}
			}
		}
	}
	for _, f := range goFiles(t) {
		d.files[filepath.Base(f.Path)] = true
		pkg := f.Syntax.Name.Name
		if d.symbols[pkg] == nil {
			d.symbols[pkg] = map[string]bool{}
		}
		for _, decl := range f.Syntax.Decls {
			for _, name := range declaredBy(decl) {
				if testName.MatchString(name) {
					d.tests[name] = true
				}
				d.symbols[pkg][name] = true
			}
		}
	}
	return d
}

// declaredBy returns the names that a declaration adds to its package. Fields and
// methods stand behind the name of their type.
func declaredBy(decl ast.Decl) (names []string) {
	if f, ok := decl.(*ast.FuncDecl); ok {
		if f.Recv == nil {
			return []string{f.Name.Name}
		}
		owner := strings.TrimLeft(typeName(f.Recv.List[0].Type), "*")
		return []string{owner + "." + f.Name.Name}
	}
	g, ok := decl.(*ast.GenDecl)
	if !ok {
		return nil
	}
	for _, spec := range g.Specs {
		switch s := spec.(type) {
		case *ast.ValueSpec:
			for _, n := range s.Names {
				names = append(names, n.Name)
			}
		case *ast.TypeSpec:
			names = append(names, s.Name.Name)
			var members *ast.FieldList
			switch u := s.Type.(type) {
			case *ast.StructType:
				members = u.Fields
			case *ast.InterfaceType:
				members = u.Methods
			}
			if members == nil {
				continue
			}
			for _, field := range members.List {
				for _, n := range field.Names {
					names = append(names, s.Name.Name+"."+n.Name)
				}
			}
		}
	}
	return names
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

var (
	quoted   = regexp.MustCompile("`([^`\n]+)`")
	testName = regexp.MustCompile(`^(?:Test|Fuzz|Benchmark)[A-Z]\w*$`)
	goFile   = regexp.MustCompile(`^[\w./*-]+\.go$`)
	inModule = regexp.MustCompile(`^(?:apply|config|containerd|internal|plan|protocol|state|testdata)(?:/[\w.*-]+)+/?$`)
	symbol   = regexp.MustCompile(`^([a-z]\w*)\.([A-Z]\w*(?:\.[A-Z]\w*)?)(?:\(.*\))?$`)
)

// missing returns what is wrong with a name in the documentation: "" if it is
// there, or is no name of anything in Go.
func (d declared) missing(name string) string {
	first, _, _ := strings.Cut(name, "/")
	path := regexp.MustCompile(`\b[A-Z]{4,}\b|NAME`).ReplaceAllString(name, "*") // cmd_NAME.go
	switch {
	case testName.MatchString(first):
		if !d.tests[first] {
			return "there is no such test"
		}
	case inModule.MatchString(path), goFile.MatchString(path) && strings.Contains(path, "/"):
		if found, err := filepath.Glob(path); err != nil || len(found) == 0 {
			return "there is no such file or package"
		}
	case goFile.MatchString(path) && !strings.Contains(path, "*"):
		if !d.files[path] {
			return "there is no such file"
		}
	default:
		m := symbol.FindStringSubmatch(name)
		if m != nil && d.symbols[m[1]] != nil && !d.symbols[m[1]][m[2]] {
			return "the package " + m[1] + " has no such name"
		}
	}
	return ""
}

// The documentation names no test, file, package or identifier that is not there.
func TestDocs_NamesExist(t *testing.T) {
	t.Parallel()
	d, seen := declarations(t), 0
	for page, text := range pages(t) {
		for _, m := range quoted.FindAllStringSubmatch(text, -1) {
			seen++
			if wrong := d.missing(m[1]); wrong != "" {
				t.Errorf("%s names `%s`: %s", page, m[1], wrong)
			}
		}
	}
	if seen < 1000 {
		t.Fatalf("only %d names were read", seen)
	}
}

func TestDocs_NamesThatDoNotExist(t *testing.T) {
	t.Parallel()
	d := declarations(t)
	for name, there := range map[string]bool{
		"TestDocs_NamesExist": true, "TestNobodyWroteThis": false, "TestScripts_Pass/lock": true, "main.go": true, "nobody.go": false,
		"internal/testkit/e2e": true, "internal/nobody": false, "plan/nobody.go": false, "internal/cli/cmd_NAME.go": true,
		"internal/nobody/cmd_NAME.go": false, "gosource.Read": true, "gosource.File.IsTest": true, "gosource.File.Path": true,
		"gosource.Nobody": false, "resource.web.state": true, "deployster plan -out=FILE": true,
	} {
		if wrong := d.missing(name); (wrong == "") != there {
			t.Errorf("%s: %q", name, wrong)
		}
	}
}

// Each requirement of docs/internals/requirements.md has an ID of its own, and a test or
// script that exists.
func TestDocs_RequirementsAreShown(t *testing.T) {
	t.Parallel()
	tests, seen := declarations(t).tests, map[string]bool{}
	shown, _, found := strings.Cut(read(t, "docs/internals/requirements.md"), "\n## Different, or not there\n")
	if !found {
		t.Fatal("the page has no table of differences")
	}
	for _, row := range regexp.MustCompile(`(?m)^\|(?: ([^|]*) \| | \| | )([^|]+) \| ([^|]*)\|$`).FindAllStringSubmatch(shown, -1) {
		if row[3] == "tests " {
			continue
		}
		names := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[3], -1)
		if len(names) == 0 {
			t.Errorf("no test shows %s %q", row[1], row[2])
		}
		for _, name := range names {
			if !tests[name[1]] && !exists("testdata/script/"+name[1]+".txtar") {
				t.Errorf("%s %q: the test or script %s does not exist", row[1], row[2], name[1])
			}
		}
		for _, id := range regexp.MustCompile(`[A-Z]-\d+[a-d]?`).FindAllString(row[1], -1) {
			if seen[id] {
				t.Errorf("%s has two rows", id)
			}
			seen[id] = true
		}
	}
	if len(seen) < 150 {
		t.Errorf("only %d requirements were read", len(seen))
	}
}

// The pages for developers are rules, not a journal: all of them have at most so many words.
func TestDocs_InternalsAreShort(t *testing.T) {
	t.Parallel()
	const most = 15_000
	words := 0
	for name, text := range pages(t) {
		if strings.HasPrefix(name, "docs/internals/") {
			words += len(strings.Fields(text)) // as wc -w counts
		}
	}
	if words == 0 || words > most {
		t.Errorf("docs/internals has %d words, want at most %d", words, most)
	}
}
