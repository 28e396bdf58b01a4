package graph

import (
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"testing"
)

func TestLayers_PutEveryNodeAfterWhatComesBeforeIt(t *testing.T) {
	g := Graph{"web": {"net", "disk"}, "net": nil, "disk": {"zone"}, "zone": nil}
	got, err := g.Layers()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"net", "zone"}, {"disk"}, {"web"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestLayers_RefuseACircle(t *testing.T) {
	if _, err := (Graph{"a": {"b"}, "b": {"a"}, "c": nil}).Layers(); err == nil {
		t.Error("a circle was sorted")
	}
}

func TestDrop_AccountsForEachLostNodeOnce(t *testing.T) {
	g := Graph{"a": nil, "b": nil, "ab": {"a", "b"}, "end": {"ab"}}
	f := NewFrontier(g)
	f.TakeAll()
	if got := f.Drop("a"); !reflect.DeepEqual(got, []string{"ab", "end"}) {
		t.Errorf("lost with a: %v", got)
	}
	if got := f.Drop("b"); len(got) != 0 {
		t.Errorf("lost again with b: %v", got)
	}
	if f.Open() != 0 {
		t.Errorf("%d nodes still open", f.Open())
	}
}

// Whatever the graph, a walk takes every node exactly once, and never before
// one that it depends on.
func TestWalk_VisitsEachNodeOnceAfterItsDependencies(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 300 {
		g, n := Graph{}, 1+r.Intn(30)
		for i := range n {
			name := fmt.Sprint("n", i)
			g[name] = nil
			for j := range i {
				if r.Intn(5) == 0 {
					g[name] = append(g[name], fmt.Sprint("n", j))
				}
			}
		}
		f, done, running := NewFrontier(g), map[string]bool{}, []string{}
		for f.Open() > 0 {
			for _, node := range f.TakeAll() {
				for _, before := range g[node] {
					if !done[before] {
						t.Fatalf("%s was ready before %s was done", node, before)
					}
				}
				running = append(running, node)
			}
			if len(running) == 0 {
				t.Fatalf("stuck with %v", f.Waiting())
			}
			i := r.Intn(len(running))
			done[running[i]] = true
			f.Done(running[i])
			running = slices.Delete(running, i, i+1)
		}
		if len(done) != n {
			t.Fatalf("%d of %d visited", len(done), n)
		}
	}
}

// A lenient node becomes ready when all before it are done or dropped; what waits for
// it is not dropped either.
func TestFrontier_Lenient(t *testing.T) {
	t.Parallel()
	f := NewFrontier(Graph{"a": nil, "b": {"a"}, "c": nil, "wait": {"a", "b", "c"}, "d": {"wait"}, "e": {"wait", "a"}})
	f.Lenient("wait")
	f.TakeAll()
	if lost := f.Drop("a"); !slices.Equal(lost, []string{"b", "e"}) {
		t.Errorf("dropped %v", lost)
	}
	if early := f.TakeAll(); len(early) > 0 {
		t.Errorf("%v is ready before c has ended", early)
	}
	f.Drop("c")
	if got := f.TakeAll(); !slices.Equal(got, []string{"wait"}) {
		t.Errorf("ready: %v", got)
	}
	f.Done("wait")
	if got := f.TakeAll(); !slices.Equal(got, []string{"d"}) || f.Open() != 1 {
		t.Errorf("ready: %v, %d open", got, f.Open())
	}
}
