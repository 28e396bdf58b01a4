package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// ranks: a package may import only packages of a lower rank. So whoever reads
// one needs to know only those below it. docs/architecture.md says why each
// stands where it does.
var ranks = map[string]int{
	"config/limits":                     0,
	"internal/base/diag":                0,
	"internal/base/durable":             0,
	"internal/base/graph":               0,
	"internal/base/imagefiles":          0,
	"internal/base/jsondoc":             0,
	"internal/base/parallel":            0,
	"internal/heap":                     0,
	"internal/runner":                   0,
	"internal/testkit/mutation":         0,
	"internal/ui/diagram":               0,
	"protocol":                          0,
	"config/funcs":                      10,
	"config/syntax":                     10,
	"containerd/agent":                  10,
	"containerd/shim":                   10,
	"internal/base/cosign":              10,
	"internal/base/encryption":          10,
	"internal/base/signature":           10,
	"internal/runner/runnertest":        10,
	"internal/runner/worker":            10,
	"internal/testkit/crash":            10,
	"internal/ui/jsondiff":              10,
	"config":                            20,
	"containerd":                        20,
	"internal/runner/typeclient":        20,
	"state":                             20,
	"internal/runner/conformance":       30,
	"internal/runs":                     30,
	"plan":                              30,
	"apply":                             40,
	"internal/ui/planpage":              40,
	"internal/ui/events":                50,
	"internal/ui/render":                50,
	"internal/cli":                      60,
	".":                                 70,
	"containerd/agent/deployster-agent": 70,
	"containerd/shim/deployster-shim":   70,
	"internal/testkit/bench":            70,
	"internal/testkit/bench/disk":       70,
	"internal/testkit/modeltest":        70,
	"internal/testkit/scale":            70,
}

// owners: these libraries are known to one package only, so that they can be
// replaced there.
var owners = map[string]string{
	"github.com/hashicorp/hcl":              "config",
	"github.com/zclconf/go-cty":             "config",
	"github.com/containerd/":                "containerd",
	"github.com/opencontainers/":            "containerd",
	"github.com/santhosh-tekuri/jsonschema": "internal/runner/typeclient",
	"github.com/sigstore/":                  "internal/base/cosign",
	"filippo.io/age":                        "internal/base/encryption",
	"oras.land/oras-go":                     "containerd",
	"github.com/urfave/cli":                 "internal/cli",
	"github.com/aymanbagabas/go-udiff":      "internal/ui/jsondiff",
	"github.com/charmbracelet/x/ansi":       "internal/ui/render",
	"github.com/charmbracelet/colorprofile": "internal/cli",
}

func TestImportsPointDownwards(t *testing.T) {
	seen := 0
	for path, imports := range sources(t) {
		dir := filepath.ToSlash(filepath.Dir(path))
		if strings.HasPrefix(dir, "docs/examples/") {
			continue // programs of their own
		}
		rank, known := ranks[dir]
		if !known {
			t.Errorf("%s: the package %s has no rank: give it one in imports_test.go, and a reason in docs/architecture.md", path, dir)
			continue
		}
		for _, imported := range imports {
			seen++
			if ours, ok := strings.CutPrefix(imported, "deployster/"); ok {
				switch other, known := ranks[ours]; {
				case strings.HasPrefix(ours, "config/") && !strings.HasPrefix(dir, "config") && !strings.HasSuffix(path, "_test.go"):
					t.Errorf("%s imports %s: the parts of config are for config", path, imported)
				case !known:
					t.Errorf("%s imports %s, which has no rank", path, imported)
				case other >= rank && !strings.HasSuffix(path, "_test.go"):
					t.Errorf("%s imports %s: rank %d may not import rank %d", path, imported, rank, other)
				}
				continue
			}
			if rank == 0 && !strings.HasPrefix(dir, "config/") && strings.Contains(strings.Split(imported, "/")[0], ".") && !strings.HasSuffix(path, "_test.go") {
				t.Errorf("%s imports %s: rank 0 has the standard library only, but for the parts of config", path, imported)
			}
			for library, owner := range owners {
				if strings.HasPrefix(imported, library) && dir != owner && !strings.HasPrefix(dir, owner+"/") && dir != "internal/testkit/bench" && !strings.HasSuffix(path, "_test.go") {
					t.Errorf("%s imports %s: only %s may", path, imported, owner)
				}
			}
		}
	}
	if seen < 100 {
		t.Fatalf("only %d imports were looked at: the test does not see the sources", seen)
	}
}

// The parts that decide know nothing of the parts that act.
func TestImportsOfPlanAndApply(t *testing.T) {
	for path, imports := range sources(t) {
		for _, imported := range imports {
			dir := filepath.Dir(path)
			if (dir == "plan" || dir == "apply") && imported == "deployster/containerd" {
				t.Errorf("%s imports containerd: plan and apply know images by the conversation with them only", path)
			}
		}
	}
}

// sources gives the imports of every Go file of the module.
func sources(t *testing.T) map[string][]string {
	t.Helper()
	files := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "bin" || strings.HasPrefix(d.Name(), ".") && path != ".") {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		files[path] = nil
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			files[path] = append(files[path], name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
