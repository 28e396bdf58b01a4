package main

import (
	"fmt"
	"go/ast"
	"maps"
	"os"
	"path"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"deployster/internal/testkit/gosource"
	"deployster/internal/testkit/house"
)

// ranks: a package may import only packages of a lower rank. So whoever reads
// one needs to know only those below it. docs/architecture.md says why each
// stands where it does.
var ranks = map[string]int{
	"config/limits":                           5,
	"internal/base/collector":                 0,
	"internal/base/diag":                      0,
	"internal/base/durable":                   0,
	"internal/base/graph":                     1,
	"internal/base/natural":                   0,
	"internal/base/scalars":                   10,
	"internal/base/imagefiles":                0,
	"internal/base/jsondoc":                   5,
	"internal/base/loglines":                  5,
	"internal/base/packed":                    1,
	"internal/base/parallel":                  0,
	"internal/base/proc":                      0,
	"docs/examples":                           0,
	"internal/base/programs":                  0,
	"internal/runtime/runner":                 0,
	"internal/runtime/remote/frame":           0,
	"internal/runtime/remote":                 10,
	"internal/runtime/guard":                  10,
	"internal/runtime/remote/agent":           11,
	"internal/runtime/pod":                    13,
	"internal/runtime/pod/programs":           11,
	"internal/runtime/pod/deployster-pod":     70,
	"internal/runtime/remote/child":           6,
	"internal/runtime/remote/cluster":         11,
	"internal/runtime/remote/ssh":             11,
	"internal/runtime/remote/router":          12,
	"internal/testkit/gosource":               0,
	"internal/testkit/house":                  1,
	"internal/testkit/mutation":               0,
	"internal/testkit/typecheck":              1,
	"internal/ui/diagram":                     10,
	"machine/internal/access":                 9,
	"machine/internal/replace":                10,
	"machine/internal/saved":                  11,
	"machine/internal/files":                  12,
	"machine/internal/text":                   13,
	"machine/internal/sysctl":                 13,
	"machine/internal/command":                12,
	"machine/internal/content":                13,
	"machine/internal/etc":                    13,
	"machine/internal/settings":               13,
	"machine/internal/kindtest":               10,
	"machine/internal/accounts":               13,
	"machine/internal/deb822":                 10,
	"machine/internal/openpgp":                10,
	"machine/internal/brought":                12,
	"machine/internal/mounts":                 12,
	"machine/internal/apt":                    13,
	"machine/internal/systemd":                13,
	"machine":                                 70,
	"protocol":                                2,
	"protocol/internal/compare":               1,
	"protocol/internal/fingerprint":           1,
	"protocol/internal/jsonvalue":             0,
	"notify":                                  70,
	"protocol/dirwatch":                       0,
	"protocol/internal/schema":                0,
	"config/funcs":                            10,
	"config/refs":                             11,
	"config/values":                           12,
	"config/source":                           13,
	"config/addresses":                        13,
	"config/ignore":                           14,
	"config/decl":                             15,
	"config/variables":                        14,
	"config/schema":                           13,
	"config/constants":                        14,
	"config/validate":                         16,
	"config/write":                            16,
	"config/instance":                         17,
	"config/eval":                             18,
	"config/trace":                            19,
	"config/results":                          20,
	"config/clusters":                         12,
	"config/edges":                            20,
	"config/cases":                            20,
	"config/expand":                           21,
	"config/planvalue":                        19,
	"config/policies":                         21,
	"containerd/adopt":                        15,
	"containerd/agent":                        10,
	"containerd/agentconn":                    12,
	"containerd/failure":                      10,
	"containerd/shim":                         10,
	"containerd/layout":                       11,
	"containerd/lending":                      0,
	"containerd/registry":                     11,
	"containerd/runfiles":                     12,
	"containerd/daemon":                       13,
	"containerd/sandbox":                      13,
	"containerd/ending":                       14,
	"containerd/supervise":                    14,
	"containerd/volumes":                      12,
	"containerd/contents":                     10,
	"containerd/images":                       15,
	"containerd/ocidir":                       14,
	"containerd/elsewhere":                    20,
	"containerd/unpacked":                     16,
	"containerd/images/transfer":              13,
	"containerd/bundled":                      14,
	"containerd/sweep":                        14,
	"containerd/idlepool":                     15,
	"containerd/server":                       16,
	"internal/runtime/artifact":               6,
	"internal/runtime/artifact/artifacttest":  10,
	"internal/runtime/artifact/images":        21,
	"internal/runtime/artifact/imagetest":     31,
	"internal/runtime/artifact/store":         10,
	"internal/runtime/artifact/tree":          6,
	"internal/base/cosign":                    10,
	"internal/base/encryption":                10,
	"internal/base/machineid":                 10,
	"internal/base/rootless":                  4,
	"internal/base/secret":                    10,
	"internal/base/signature":                 10,
	"internal/base/words":                     5,
	"internal/runtime/runner/runnertest":      10,
	"internal/runtime/runner/worker":          10,
	"internal/base/sharedlog":                 10,
	"internal/base/sharedlog/storetest":       11,
	"internal/runtime/stores":                 16,
	"internal/runtime/stores/dir":             15,
	"internal/runtime/stores/postgres":        15,
	"internal/runtime/stores/s3":              15,
	"internal/testkit/fakeapi":                0,
	"internal/testkit/person":                 0,
	"internal/testkit/page":                   0,
	"internal/testkit/cgroups":                0,
	"internal/testkit/kubenode":               1,
	"internal/testkit/machines":               1,
	"internal/testkit/machines/booted":        70,
	"internal/testkit/services":               10,
	"internal/testkit/crash":                  10,
	"internal/testkit/identity":               10,
	"internal/ui/jsondiff":                    15,
	"config":                                  22,
	"containerd":                              20,
	"internal/runtime/runner/typeclient":      20,
	"internal/runtime/runner/answers":         10,
	"internal/runtime/runner/typeschema":      15,
	"internal/runtime/runner/watchclient":     22,
	"state":                                   21,
	"state/content":                           19,
	"state/place":                             17,
	"state/moves":                             5,
	"state/lines":                             10,
	"state/transfer":                          20,
	"state/actions":                           18,
	"state/capacity":                          18,
	"internal/runtime/conformance":            31,
	"internal/runtime/conformance/recording":  29,
	"internal/runtime/conformance/report":     30,
	"internal/runtime/runner/imagestore":      5,
	"internal/runtime/runner/machinegrant":    6,
	"internal/app/runs":                       30,
	"plan/artifacts":                          24,
	"plan/types":                              27,
	"plan/begins":                             24,
	"plan/match":                              25,
	"plan/reason":                             24,
	"plan/verdict":                            24,
	"internal/app/policy":                     59,
	"plan/plugs":                              25,
	"plan/refresh":                            25,
	"plan/subject":                            25,
	"plan/explain":                            35,
	"plan/findings":                           26,
	"plan/inputs":                             26,
	"plan/order":                              27,
	"plan/observe":                            27,
	"plan/objects":                            27,
	"plan/autoedge":                           28,
	"plan/change":                             28,
	"plan/latehost":                           28,
	"internal/runtime/claims":                 5,
	"internal/runtime/notifier":               21,
	"plan/planfile":                           35,
	"plan/repair":                             35,
	"apply":                                   40,
	"internal/app/watch":                      42,
	"internal/app/watch/metrics":              43,
	"internal/migrate":                        26,
	"internal/migrate/entries":                25,
	"internal/migrate/edits":                  5,
	"internal/migrate/packs":                  6,
	"internal/migrate/tfrefs":                 5,
	"internal/migrate/layout":                 5,
	"internal/migrate/tffiles":                24,
	"internal/migrate/jinja":                  5,
	"internal/migrate/expressions":            6,
	"internal/migrate/original":               26,
	"internal/ui/planpage":                    51,
	"internal/ui/markdown":                    11,
	"internal/ui/events":                      50,
	"internal/ui/paint":                       10,
	"internal/ui/clusterlines":                49,
	"internal/ui/artifactlines":               49,
	"internal/ui/stateview":                   51,
	"internal/ui/policylines":                 49,
	"internal/ui/render":                      50,
	"internal/ui/terminal":                    52,
	"internal/ui/typeview":                    54,
	"internal/app/approval":                   50,
	"internal/app/artifacts":                  53,
	"internal/app/command":                    57,
	"internal/app/machine":                    58,
	"internal/app/clients":                    59,
	"internal/app/draft":                      60,
	"internal/app/notifying":                  59,
	"internal/app/cases":                      61,
	"internal/app/unsettled":                  59,
	"internal/app/stage":                      61,
	"internal/app/rounds":                     62,
	"internal/app/repairs":                    62,
	"internal/app/pins":                       64,
	"internal/app/resolving":                  64,
	"internal/app/redact":                     45,
	"internal/app/workspace":                  55,
	"internal/app/savedplan":                  56,
	"internal/app/stateedit":                  56,
	"internal/app/sharedstate":                56,
	"internal/app/transfer":                   57,
	"internal/app/images":                     56,
	"internal/app/hosts":                      58,
	"internal/app/versions":                   57,
	"internal/app/typecache":                  57,
	"internal/app/announce":                   56,
	"internal/app":                            63,
	"internal/app/watching":                   65,
	"internal/app/discover":                   64,
	"internal/app/drifting":                   64,
	"internal/base/links":                     0,
	"internal/base/version":                   0,
	"internal/base/packed/deployster-pack":    70,
	"internal/onhost":                         65,
	"internal/onhost/deployster-host":         70,
	"internal/cli/process":                    10,
	"internal/cli":                            67,
	"internal/cli/artifacts":                  65,
	"internal/cli/images":                     65,
	"internal/cli/plans":                      66,
	"internal/cli/hosts":                      65,
	"internal/cli/records":                    65,
	"internal/cli/typetest":                   65,
	"internal/cli/states":                     65,
	"internal/cli/settings":                   10,
	"internal/cli/flagvalues":                 25,
	"internal/cli/commandline":                25,
	"internal/cli/manual":                     25,
	"internal/cli/standalone":                 65,
	".":                                       70,
	"containerd/agent/deployster-agent":       70,
	"containerd/bundled/deployster-layout":    70,
	"containerd/shim/deployster-shim":         70,
	"internal/testkit/artifacts":              70,
	"internal/testkit/bench":                  70,
	"internal/testkit/bench/disk":             70,
	"internal/testkit/bench/line":             70,
	"internal/testkit/bench/meter":            60,
	"internal/testkit/bench/results":          65,
	"internal/testkit/e2e":                    70,
	"internal/testkit/lines":                  70,
	"internal/testkit/sets":                   70,
	"internal/testkit/modeltest":              70,
	"internal/testkit/scale":                  70,
	"plan/drift":                              30,
	"plan/lookup":                             30,
	"plan/query":                              29,
	"plan":                                    34,
	"plan/exclusive":                          32,
	"plan/identity":                           30,
	"plan/decide":                             31,
	"machine/internal/git":                    13,
	"machine/internal/certificates":           14,
	"machine/internal/nftables":               14,
	"machine/internal/postgres":               14,
	"machine/internal/containers":             14,
	"apply/compare":                           36,
	"apply/entries":                           38,
	"apply/facts":                             36,
	"apply/fresh":                             36,
	"apply/identity":                          38,
	"apply/guarding":                          38,
	"apply/latehost":                          38,
	"apply/query":                             37,
	"apply/rollout":                           38,
	"apply/evaluate":                          38,
	"apply/report":                            37,
	"apply/turns":                             36,
	"config/lockfile":                         14,
	"internal/runtime/modsource":              6,
	"internal/app/modules":                    54,
	"internal/cli/modules":                    65,
	"internal/base/secretref":                 6,
	"internal/runtime/runner/secretgrant":     11,
	"internal/app/vault":                      24,
	"internal/base/schedule":                  4,
	"internal/app/operating":                  64,
	"state/exports":                           20,
	"internal/runtime/conformance/validation": 29,
	"internal/runtime/conformance/otherkinds": 30,
	"internal/runtime/runner/withheld":        11,
	"internal/runtime/secretread":             21,
	"internal/app/remotes":                    56,
	"internal/app/judging":                    64,
}

// owners: these libraries are known to one package only, so that they can be
// replaced there.
var owners = map[string]string{
	"github.com/hashicorp/hcl":              "config",
	"github.com/zclconf/go-cty":             "config",
	"github.com/containerd/":                "containerd",
	"github.com/opencontainers/":            "containerd",
	"github.com/santhosh-tekuri/jsonschema": "internal/runtime/runner/typeschema",
	"github.com/jackc/pgx/":                 "internal/runtime/stores/postgres",
	"github.com/minio/":                     "internal/runtime/stores/s3",
	"github.com/go-ini/ini":                 "internal/runtime/stores/s3",
	"github.com/sigstore/":                  "internal/base/cosign",
	"github.com/agext/levenshtein":          "internal/base/words",
	"github.com/robfig/cron":                "internal/base/schedule",
	"github.com/go-json-experiment/json":    "internal/base/jsondoc",
	"filippo.io/age":                        "internal/base/encryption",
	"oras.land/oras-go":                     "containerd",
	"github.com/urfave/cli":                 "internal/cli",
	"github.com/aymanbagabas/go-udiff":      "internal/ui/jsondiff",
	"github.com/charmbracelet/x/ansi":       "internal/ui/paint",
	"github.com/charmbracelet/colorprofile": "internal/cli",
	"github.com/prometheus/":                "internal/app/watch/metrics",
}

func TestImports_PointDownwards(t *testing.T) {
	seen := 0
	for _, s := range sources(t) {
		rank, known := ranks[s.Dir]
		if !known {
			t.Errorf("%s: the package %s has no rank: give it one in imports_test.go, and a line in docs/architecture.md", s.Path, s.Dir)
			continue
		}
		for _, imported := range s.Imports {
			seen++
			ours, ok := strings.CutPrefix(imported, "deployster/")
			if !ok || s.IsTest() {
				continue
			}
			switch other, known := ranks[ours]; {
			case strings.HasPrefix(ours, "config/") && !strings.HasPrefix(s.Dir, "config"):
				t.Errorf("%s imports %s: the parts of config are for config", s.Path, imported)
			case strings.HasPrefix(ours, "containerd/") && ours != "containerd/elsewhere" && !strings.HasPrefix(s.Dir, "containerd") &&
				rank < ranks["."]:
				t.Errorf("%s imports %s: the rooms of containerd are for containerd and programs", s.Path, imported)
			case !known:
				t.Errorf("%s imports %s, which has no rank", s.Path, imported)
			case other >= rank:
				t.Errorf("%s imports %s: rank %d may not import rank %d", s.Path, imported, rank, other)
			}
		}
	}
	if seen < 100 {
		t.Fatalf("only %d imports were looked at: the test does not see the sources", seen)
	}
}

// Rank 0 has the standard library only, but for the parts of config.
func TestImports_OfRankZeroAreTheStandardLibrary(t *testing.T) {
	for _, s := range product(t) {
		for _, imported := range s.Imports {
			host, _, _ := strings.Cut(imported, "/")
			if ranks[s.Dir] == 0 && !strings.HasPrefix(s.Dir, "config/") && strings.Contains(host, ".") {
				t.Errorf("%s imports %s: rank 0 has the standard library only", s.Path, imported)
			}
		}
	}
}

// entries: these tools beside the engine are linked in, and only the package of their command
// imports them. docs/decisions/0029 says why they are no programs of their own.
var entries = map[string]string{
	"deployster/internal/migrate":                    "internal/cli/standalone",
	"deployster/internal/runtime/conformance":        "internal/cli/typetest",
	"deployster/internal/runtime/artifact/imagetest": "internal/cli/typetest",
}

func TestImports_OfAToolAreInItsCommand(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range product(t) {
		for _, imported := range s.Imports {
			for tool, entry := range entries {
				_, isTool := entries["deployster/"+s.Dir]
				if imported != tool && !strings.HasPrefix(imported, tool+"/") || isTool || strings.HasPrefix("deployster/"+s.Dir, tool) {
					continue
				}
				if seen[tool] = true; s.Dir != entry {
					t.Errorf("%s imports %s: only %s may", s.Path, imported, entry)
				}
			}
		}
	}
	if len(seen) != len(entries) {
		t.Errorf("only these tools are imported: %v", seen)
	}
}

func TestImports_OfALibraryAreInItsPackage(t *testing.T) {
	for _, s := range product(t) {
		for _, imported := range s.Imports {
			for library, owner := range owners {
				if strings.HasPrefix(imported, library) && s.Dir != owner && !strings.HasPrefix(s.Dir, owner+"/") && s.Dir != "internal/testkit/bench" &&
					(owner != "config" || !strings.HasPrefix(s.Dir, "internal/migrate")) { // which reads another language in HCL
					t.Errorf("%s imports %s: only %s may", s.Path, imported, owner)
				}
			}
		}
	}
}

// Images are run by whatever keeps the interfaces of internal/runtime/runner: only the command
// line and the program on hosts, which open containerd, and what tests and measures it know it.
func TestImports_OfContainerdAreForTheCommandLine(t *testing.T) {
	for _, s := range sources(t) {
		switch {
		case s.Dir == ".", s.Dir == "internal/cli", s.Dir == "internal/onhost", strings.HasPrefix(s.Dir, "internal/onhost/"),
			strings.HasPrefix(s.Dir, "internal/testkit/"),
			s.Dir == "containerd", strings.HasPrefix(s.Dir, "containerd/"), s.Dir == "internal/app" && s.IsTest():
			continue
		}
		for _, imported := range s.Imports {
			if imported == "deployster/containerd" || strings.HasPrefix(imported, "deployster/containerd/") {
				t.Errorf("%s imports %s: images are known by internal/runtime/runner here", s.Path, imported)
			}
		}
	}
}

// The standard types are a program beside the engine: they know the protocol alone, as any
// type does.
func TestImports_OfMachineAreTheProtocolAlone(t *testing.T) {
	seen := 0
	for _, s := range product(t) {
		if s.Dir != "machine" && !strings.HasPrefix(s.Dir, "machine/") {
			for _, imported := range s.Imports {
				if imported == "deployster/machine" || strings.HasPrefix(imported, "deployster/machine/") {
					t.Errorf("%s imports %s: the standard types are a program of their own", s.Path, imported)
				}
			}
			continue
		}
		for _, imported := range s.Imports {
			ours, ok := strings.CutPrefix(imported, "deployster/")
			if seen++; ok && !strings.HasPrefix(ours, "machine/") && ours != "protocol" && !strings.HasPrefix(ours, "protocol/") {
				t.Errorf("%s imports %s: a type knows protocol alone", s.Path, imported)
			}
		}
	}
	if seen < 20 {
		t.Fatalf("only %d imports were looked at: the test does not see the sources", seen)
	}
}

// docs/architecture.md has every package in its place.
func TestImports_AreDocumented(t *testing.T) {
	page, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range ranks {
		if name != "." && !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/architecture.md does not say what `%s` is for", name)
		}
	}
}

// TestPackages_AreDocumented wants the word of each room at its door. A program says what
// it is in its main.go.
func TestPackages_AreDocumented(t *testing.T) {
	t.Parallel()
	for name := range ranks {
		if _, err := os.Stat(name + "/main.go"); err == nil || name == "." {
			continue
		}
		text, err := os.ReadFile(name + "/doc.go")
		if err != nil || !strings.HasPrefix(string(text), "// Package "+path.Base(name)+" ") {
			t.Errorf("%s/doc.go does not say what the package owns, what comes in and what goes out: %v", name, err)
		}
	}
}

// limits: what one reader takes in at a time. Tests and generated files are not held
// to them: nobody reads the stubs of bridge/internal/tfplugin, which protoc makes of
// Terraform's published .proto files. The bridge, kube and lsp, modules of their own, are.
const (
	packageLines   = 2500
	fileLines      = 350
	functionLines  = 75
	lineColumns    = 140
	tabColumns     = 4
	typeMethods    = 40
	packageImports = 25
	rootImports    = 45 // of a composition root: it imports what it composes
)

func TestLimits_OfPackagesAreKept(t *testing.T) {
	sizes := map[string]int{}
	for _, s := range limited(t) {
		if path.Base(s.Path) != "doc.go" {
			sizes[s.Dir] += lines(s)
		}
	}
	for dir, n := range sizes {
		known := tooLarge["lines of "+dir]
		hold(t, "package "+dir, n, max(packageLines, known), "lines")
		if known > 0 && n <= packageLines {
			t.Errorf("package %s keeps its limit: take it out of tooLarge", dir)
		}
	}
}

func TestLimits_OfFilesAreKept(t *testing.T) {
	for _, s := range limited(t) {
		hold(t, "file "+s.Path, lines(s), fileLines, "lines")
	}
}

func TestLimits_OfFunctionsAreKept(t *testing.T) {
	for _, s := range limited(t) {
		ast.Inspect(s.Syntax, func(n ast.Node) bool {
			name := "literal"
			switch f := n.(type) {
			case *ast.FuncDecl:
				name = f.Name.Name
			case *ast.FuncLit:
			default:
				return true
			}
			from, to := s.Positions.Position(n.Pos()), s.Positions.Position(n.End())
			hold(t, fmt.Sprintf("function %s (%s:%d)", name, s.Path, from.Line), to.Line-from.Line+1, functionLines, "lines")
			return true
		})
	}
}

func TestLimits_OfColumnsAreKept(t *testing.T) {
	for _, s := range limited(t) {
		n := 0
		for line := range strings.Lines(s.Text) {
			n++
			columns := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) + (tabColumns-1)*strings.Count(line, "\t")
			hold(t, fmt.Sprintf("line %s:%d", s.Path, n), columns, lineColumns, "columns")
		}
	}
}

// TestHouse_KeepsItsLimits holds types and packages to what one reader takes in at a
// time. Methods count with those of embedded types, and functions that take a type first
// count for it: neither a wrapper nor a free function makes a type smaller. `make house`
// prints the largest.
func TestHouse_KeepsItsLimits(t *testing.T) {
	h, err := house.Measure(".")
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Types) < 300 || len(h.Packages) < 100 {
		t.Fatalf("only %d types and %d packages were measured", len(h.Types), len(h.Packages))
	}
	excess := maps.Clone(tooLarge)
	check := func(name string, n, limit int, unit string) {
		if known := excess[name]; n > limit && known >= n {
			delete(excess, name)
		} else {
			hold(t, name, n, limit, unit)
		}
	}
	for i, s := range h.Types {
		if i < 20 {
			t.Logf("%-50s %3d methods, %2d functions", s.Name, s.Methods, s.Functions)
		}
		check(s.Name, s.Size(), typeMethods, "methods and functions")
		if s.Wrapper {
			check("wrapper "+s.Name, 1, 0, "fields, an embedded pointer: give what it owns a type")
		}
	}
	for i, p := range h.Packages {
		if i < 10 {
			t.Logf("%-50s %3d packages of this module imported", p.Name, p.Imports)
		}
		limit := packageImports
		if p.Root {
			limit = rootImports
		}
		check(p.Name, p.Imports, limit, "imports of this module")
	}
	for name := range excess {
		if strings.HasPrefix(name, "lines of ") {
			continue
		}
		t.Errorf("%s keeps its limit, or has another name: take it out of tooLarge", name)
	}
}

// hold compares what was counted with the limit.
func hold(t *testing.T, name string, n, limit int, unit string) {
	t.Helper()
	if n > limit {
		t.Errorf("%s has %d %s, and %d is the limit", name, n, unit, limit)
	}
}

func lines(f gosource.File) int { return strings.Count(f.Text, "\n") }

// product returns the files of the main module that people write.
func product(t *testing.T) (list []gosource.File) {
	for _, s := range sources(t) {
		if !s.IsTest() && !ast.IsGenerated(s.Syntax) {
			list = append(list, s)
		}
	}
	if len(list) < 100 {
		t.Fatalf("only %d files were found: the test does not see the sources", len(list))
	}
	return list
}

// limited returns the files that are held to the limits: those of the bridge, of kube and of lsp too.
func limited(t *testing.T) []gosource.File {
	list := product(t)
	for module, read := range readModules {
		files, err := read()
		if err != nil || len(files) < 10 {
			t.Fatalf("only %d files of %s were found: %v", len(files), module, err)
		}
		for _, s := range files {
			if s.Path, s.Dir = module+"/"+s.Path, module+"/"+s.Dir; !s.IsTest() && !ast.IsGenerated(s.Syntax) {
				list = append(list, s)
			}
		}
	}
	return list
}

// sources returns every Go file of the module.
func sources(t *testing.T) []gosource.File {
	t.Helper()
	files, err := read()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// read is done once for all tests of this file.
var (
	read        = sync.OnceValues(func() ([]gosource.File, error) { return gosource.Read(".") })
	readModules = map[string]func() ([]gosource.File, error){
		"bridge": sync.OnceValues(func() ([]gosource.File, error) { return gosource.Read("bridge") }),
		"kube":   sync.OnceValues(func() ([]gosource.File, error) { return gosource.Read("kube") }),
		"lsp":    sync.OnceValues(func() ([]gosource.File, error) { return gosource.Read("lsp") }),
	}
)

// tooLarge are the types, packages and wrappers above their limits, with their sizes of
// today: none may grow, and none may be added.
var tooLarge = map[string]int{}
