package order_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"deployster/config"
	"deployster/internal/base/graph"
	"deployster/plan/match"
	"deployster/plan/order"
)

// spell writes a graph down: each node with what must be done before it.
func spell(g graph.Graph) string {
	var words []string
	for _, node := range slices.Sorted(maps.Keys(g)) {
		words = append(words, strings.TrimSuffix(node+"<"+strings.Join(slices.Sorted(slices.Values(g[node])), ","), "<"))
	}
	return strings.Join(words, " ")
}

// sample is a plan in which app needs db, db is replaced, and gone is destroyed, which
// old depended on and lets go of.
func sample() order.Plan {
	return order.Plan{Resources: []string{"app", "db", "gone", "old"}, Replaced: func(addr string) bool { return addr == "db" },
		Edges: []order.Edge{{From: "db", To: "app", Origin: "reference"}, {From: "db", To: "gone", Origin: order.Removal},
			{From: "old", To: "db", Origin: order.Removal}}}
}

func TestPlan_Nodes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		barriers []order.Barrier
		want     string
	}{
		"without barriers": {nil, "app<db db<db (old) db (old)<old gone<db (old) old"},
		"a barrier": {[]order.Barrier{{Name: "barrier:1", After: []string{"gone"}, Before: []string{"app"}}},
			"app<barrier:1,db barrier:1<gone db<db (old) db (old)<old gone<db (old) old"},
		"asked again before it begins": {[]order.Barrier{{Name: "barrier:1", After: []string{"gone"}, Before: []string{"app"}, Again: []string{"app"}}},
			"app<app (again),barrier:1,db app (again)<barrier:1 barrier:1<gone db<db (old) db (old)<old gone<db (old) old"},
		"asked again after it has begun": {[]order.Barrier{{Name: "barrier:1", After: []string{"gone"}, Again: []string{"app"}}},
			"app<db app (again)<app,barrier:1 barrier:1<gone db<db (old) db (old)<old gone<db (old) old"},
		"asked again before its dependants begin": {[]order.Barrier{{Name: "barrier:1", After: []string{"gone"}, Again: []string{"db"}}},
			"app<db,db (again) barrier:1<gone db<db (old) db (again)<barrier:1,db db (old)<old gone<db (old) old"},
		"asked again after a removal that a dependant comes before": {[]order.Barrier{{Name: "barrier:1", After: []string{"app"}, Again: []string{"db"}}},
			"app<db barrier:1<app db<db (old) db (again)<barrier:1,db db (old)<old gone<db (old) old"},
		"asked again, and left out": {[]order.Barrier{{Name: "barrier:1", After: []string{"gone"}, Again: []string{"other"}}},
			"app<db barrier:1<gone db<db (old) db (old)<old gone<db (old) old other (again)<barrier:1"},
	} {
		p := sample()
		p.Barriers = c.barriers
		if got := spell(p.Nodes()); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestOfNode_ReturnsAddressAndKind(t *testing.T) {
	t.Parallel()
	for node, want := range map[string]string{"a": "a 0", `a["x:1"]`: `a["x:1"] 0`, order.OldNode("a"): "a 1", "a (again)": "a 2",
		"barrier:1": "barrier:1 3", "known:2": "known:2 3", "doubt:3": "doubt:3 3", "a (deposed 1)": "a (deposed 1) 0"} {
		addr, what := order.OfNode(node)
		if got := fmt.Sprint(addr, " ", int(what)); got != want {
			t.Errorf("%s is %s, want %s", node, got, want)
		}
	}
}

// What may be the same thing waits for ends that succeed; a barrier that nothing waits
// for, and after which nothing is asked, is left out.
func TestBarriers_WaitForEndsOfOneClass(t *testing.T) {
	t.Parallel()
	o := match.Order(graph.Graph{"e": nil, "b": nil, "d": nil, "f": nil}, nil,
		[]match.Begin{{Node: "b", Class: "c"}, {Node: "d", Class: "c"}}, []match.Finish{{Node: "e", Class: "c"}, {Node: "f", Class: "z"}})
	var got []string
	for _, b := range order.Barriers(o, nil, func(node string) bool { return node == "d" }) {
		got = append(got, fmt.Sprint(b.Name, b.After, b.Before, b.OrderOnly))
	}
	if want := []string{"barrier:1[e] [b d] true", "doubt:1[e] [d] false"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Who waits for one is looked up once for all: twice as many dependants take twice as much.
func TestDependsOn_IsLinear(t *testing.T) {
	load := func(count int) *config.Manifest {
		manifest := fmt.Sprintf("resource \"a\" {\n  type = \"x\"\n}\nresource \"s\" {\n  count = %d\n  type = \"x\"\n  depends_on = [resource.a]\n}\n", count)
		m, diags := config.Load(config.Sources{Workspace: "/w", Dir: "/w", Manifests: []config.File{{Path: "main.hcl", Bytes: []byte(manifest)}}}, nil,
			config.Builtins{Version: "0.1.0", Home: "/"})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		return m
	}
	cost := func(count int) float64 {
		m := load(count)
		return testing.AllocsPerRun(1, func() {
			dependsOn := order.DependsOn(m)
			for i := range count {
				if s := fmt.Sprintf("s[%d]", i); !dependsOn(s, "a") {
					t.Fatal(s)
				}
			}
		})
	}
	if few, many := cost(100), cost(400); many > 6*few {
		t.Errorf("4 times as many cost %.0f instead of %.0f", many, few)
	}
}
