package autoedge

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"deployster/internal/base/graph"
	"deployster/protocol"
)

// file is a node of a type that comes after the file above it.
func file(addr, at string) Node {
	return Node{Address: addr, Kind: "file", Config: fmt.Appendf(nil, `{"path":%q}`, at), Type: protocol.Type{Identity: []string{"/path"},
		AutoEdges: []protocol.AutoEdge{{Kind: "file", By: "/path", Parents: true}}}}
}

// service is a node of a type that comes after the files it names, and after its package.
func service(addr, config string) Node {
	return Node{Address: addr, Kind: "service", Config: []byte(config), Type: protocol.Type{Identity: []string{"/unit"},
		AutoEdges: []protocol.AutoEdge{{Kind: "file", By: "/files"}, {Kind: "package", By: "/package"}}}}
}

func TestFind_ReturnsEdgesToNamedPaths(t *testing.T) {
	t.Parallel()
	elsewhere := file("elsewhere", "/etc/app/conf")
	elsewhere.Host = "far"
	within := service("within", `{"unit":"w","files":["/etc/app/"]}`)
	within.Type.AutoEdges[0].Parents = true
	two := file("two", "/etc/app")
	two.Type.Identity = []string{"/path", "/owner"} // more than the path names it
	for name, c := range map[string]struct {
		nodes         []Node
		before        graph.Graph
		edges, cycles map[string][]string
	}{
		"nearest above":        {nodes: []Node{file("conf", "/etc/app/d/conf"), file("etc", "/etc/"), file("app", "/etc/app")}, edges: map[string][]string{"conf": {"app"}, "app": {"etc"}}},
		"named with a slash":   {nodes: []Node{within, file("app", "/etc/app"), file("etc", "/etc")}, edges: map[string][]string{"within": {"app"}, "app": {"etc"}}},
		"named":                {nodes: []Node{service("web", `{"unit":"web","files":["/a","/b/c"],"package":"web"}`), file("a", "/a"), file("b", "/b")}, edges: map[string][]string{"web": {"a"}}},
		"not known yet":        {nodes: []Node{service("web", `{"unit":"web"}`), file("a", "/a")}},
		"another host":         {nodes: []Node{elsewhere, file("app", "/etc/app")}},
		"two values name it":   {nodes: []Node{file("conf", "/etc/app/conf"), two}},
		"known already":        {nodes: []Node{file("conf", "/etc/conf"), file("etc", "/etc")}, before: graph.Graph{"conf": {"x"}, "x": {"etc"}}},
		"it would be a circle": {nodes: []Node{file("conf", "/etc/conf"), file("etc", "/etc")}, before: graph.Graph{"etc": {"x"}, "x": {"conf"}}, cycles: map[string][]string{"conf": {"etc"}}},
	} {
		before := c.before
		if before == nil {
			before = graph.Graph{}
		}
		edges, cycles := Find(c.nodes, before)
		for _, want := range []*map[string][]string{&c.edges, &c.cycles} {
			if *want == nil {
				*want = map[string][]string{}
			}
		}
		if !reflect.DeepEqual(edges, c.edges) || !reflect.DeepEqual(cycles, c.cycles) {
			t.Errorf("%s: %v, cycles %v: want %v, %v", name, edges, cycles, c.edges, c.cycles)
		}
	}
}

// Whatever types say, and whatever is written, there is never a circle.
func TestFind_NoCircles(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		var nodes []Node
		before := graph.Graph{}
		for i := range 8 {
			addr := fmt.Sprint("n", i)
			n := file(addr, fmt.Sprint("/p", i))
			n.Config = fmt.Appendf(nil, `{"path":"/p%d","needs":["/p%d","/p%d"]}`, i, r.IntN(8), r.IntN(8))
			n.Type.AutoEdges = []protocol.AutoEdge{{Kind: "file", By: "/needs"}}
			nodes, before[addr] = append(nodes, n), nil
			if i > 0 && r.IntN(3) == 0 {
				before[addr] = []string{fmt.Sprint("n", r.IntN(i))}
			}
		}
		nodes[r.IntN(8)].Provides = []protocol.Provided{{Kind: "file", ID: "/"}}
		edges, cycles := Find(nodes, before)
		FindProvided(nodes, before)
		if _, err := before.Layers(); err != nil {
			t.Fatalf("seed %d: %v: %v", seed, err, before)
		}
		for addr, list := range cycles { // none was left out for nothing
			for _, to := range list {
				if !reaches(to, addr, before) || slices.Contains(edges[addr], to) {
					t.Fatalf("seed %d: %s after %s would be no circle: %v", seed, addr, to, before)
				}
			}
		}
	}
}

// pack is a node that brings these objects.
func pack(addr string, brings ...protocol.Provided) Node {
	return Node{Address: addr, Kind: "package", Provides: brings}
}

func TestFindProvided_ReturnsEdges(t *testing.T) {
	t.Parallel()
	etc, app := protocol.Provided{Kind: "file", ID: "/etc"}, protocol.Provided{Kind: "file", ID: "/etc/app/"}
	elsewhere := file("conf", "/etc/app/conf")
	elsewhere.Host = "far"
	itself := file("etc", "/etc")
	itself.Provides = []protocol.Provided{etc}
	kept := file("conf", "/conf")
	kept.Kept = []string{"p"}
	for name, c := range map[string]struct {
		nodes                  []Node
		before                 graph.Graph
		edges, cycles, brought map[string][]string
	}{
		"below":            {nodes: []Node{file("conf", "/etc/app/conf"), pack("p", app)}, edges: map[string][]string{"conf": {"p"}}, brought: map[string][]string{"conf": {"p"}}},
		"below two":        {nodes: []Node{file("conf", "/etc/app/conf"), pack("p", etc), pack("q", app)}, edges: map[string][]string{"conf": {"q", "p"}}, brought: map[string][]string{"conf": {"q", "p"}}},
		"beside":           {nodes: []Node{file("conf", "/etc/application"), pack("p", app)}},
		"another host":     {nodes: []Node{elsewhere, pack("p", app)}},
		"itself":           {nodes: []Node{itself}},
		"what it declares": {nodes: []Node{service("web", `{"unit":"web","files":["/etc/app"]}`), pack("p", app)}, edges: map[string][]string{"web": {"p"}}},
		"not above that":   {nodes: []Node{service("web", `{"unit":"web","files":["/etc/app/conf"]}`), pack("p", app)}},
		"known already":    {nodes: []Node{file("conf", "/etc/app/conf"), pack("p", app)}, before: graph.Graph{"conf": {"p"}}, brought: map[string][]string{"conf": {"p"}}},
		"a circle":         {nodes: []Node{file("conf", "/etc/app/conf"), pack("p", app)}, before: graph.Graph{"p": {"x"}, "x": {"conf"}}, cycles: map[string][]string{"conf": {"p"}}},
		"kept":             {nodes: []Node{kept, pack("p")}, edges: map[string][]string{"conf": {"p"}}},
		"kept, a circle":   {nodes: []Node{kept, pack("p")}, before: graph.Graph{"p": {"conf"}}},
	} {
		before := c.before
		if before == nil {
			before = graph.Graph{}
		}
		got := FindProvided(c.nodes, before)
		for _, want := range []*map[string][]string{&c.edges, &c.cycles, &c.brought} {
			if *want == nil {
				*want = map[string][]string{}
			}
		}
		if want := (Provided{Edges: c.edges, Cycles: c.cycles, Brought: c.brought}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
