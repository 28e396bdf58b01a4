package mutation_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// roots are the modules, from this package.
var roots = []string{"../../..", "../../../kube", "../../../lsp"}

// Each fault names one place, and what it makes of it compiles. That is seen here, and
// not only when the mutants are built, which takes long.
func TestMutants_NamePlacesThatExist(t *testing.T) {
	t.Parallel()
	for _, root := range roots {
		t.Run(path.Base(root), func(t *testing.T) {
			t.Parallel()
			checkModule(t, root, map[string]int{roots[0]: 300}[root])
		})
	}
}

// checkModule checks the lists of a module, which have at least so many faults.
func checkModule(t *testing.T, root string, least int) {
	t.Helper()
	lists := listsOf(t, root)
	seen, sources := 0, mutation.NewSources(root)
	changed, dirs := map[string][]mutant{}, map[string]bool{}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}
		faults, err := mutation.Parse(string(text))
		if err != nil {
			t.Errorf("%s: %v", list, err)
		}
		names := map[string]bool{}
		for _, f := range faults {
			if seen++; names[f.Name] {
				t.Errorf("%s has two faults named %q", list, f.Name)
			}
			names[f.Name] = true
			path, source, err := sources.Changed(f)
			if err != nil {
				t.Errorf("%s: %s: %v", list, f.Name, err)
			} else if !strings.HasSuffix(path, "_test.go") {
				changed[path] = append(changed[path], mutant{list + ": " + f.Name, source})
				dirs[f.Package] = true
			}
			for _, test := range testName.FindAllString(f.Seen, 1) {
				if dir := testsOf(root, f.Seen, list); !declares(t, dir, test) {
					t.Errorf("%s: %s: %s has no test %s", list, f.Name, dir, test)
				}
			}
		}
	}
	if seen <= least {
		t.Errorf("only %d faults were checked in %q", seen, lists)
	}
	c := newCompiler(t, root, dirs)
	for path, mutants := range changed {
		for _, m := range mutants {
			if err := c.check(path, m.source); err != nil {
				t.Errorf("%s: does not compile: %v", m.name, err)
			}
		}
	}
}

// listsOf are the lists of a module, without those of modules in its directories.
func listsOf(t *testing.T, root string) (lists []string) {
	t.Helper()
	for _, depth := range []string{"*", "*/*", "*/*/*", "*/*/*/*"} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(depth), filepath.FromSlash(mutation.ListName)))
		if err != nil {
			t.Fatal(err)
		}
		lists = append(lists, found...)
	}
	return slices.DeleteFunc(lists, func(list string) bool {
		return slices.ContainsFunc(roots, func(other string) bool {
			return len(other) > len(root) && strings.HasPrefix(filepath.ToSlash(list), other+"/")
		})
	})
}

// mutant is a file with a fault.
type mutant struct {
	name   string
	source []byte
}

var testName = regexp.MustCompile(`\bTest\w+`)

// testsOf is the directory of the tests that are to see a fault: the one that it
// names, or that of its list.
func testsOf(root, seen, list string) string {
	if dir, _, named := strings.Cut(seen, " Test"); named {
		return path.Join(root, dir)
	}
	return path.Dir(path.Dir(filepath.ToSlash(list)))
}

// declares reports whether a test of a directory has a name or begins with it.
func declares(t *testing.T, dir, test string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(dir), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+test) {
			return true
		}
	}
	return false
}
