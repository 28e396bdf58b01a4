package subject

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"deployster/config"
	"deployster/state"
	"deployster/state/moves"
)

func declared(addresses ...string) []*config.Resource {
	var list []*config.Resource
	for _, a := range addresses {
		list = append(list, &config.Resource{Address: a})
	}
	return list
}

func TestMoves_CountTakesTheResourceAlong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ declared, recorded, want []string }{
		{[]string{"web[0]", "web[1]"}, []string{"web"}, []string{"web", "web[0]"}},
		{[]string{"web"}, []string{"web[0]", "web[1]"}, []string{"web[0]", "web"}},
		{[]string{"web[0]"}, []string{"web", "web[0]"}, nil},
		{[]string{"web"}, []string{"web", "web[0]"}, nil},
		{[]string{`web["0"]`}, []string{"web"}, nil},
		{[]string{"module.m[0].web[0]"}, []string{"module.m[0].web"}, []string{"module.m[0].web", "module.m[0].web[0]"}},
		{[]string{"module.m[0].web"}, []string{"module.m.web"}, nil},
	} {
		s := state.Snapshot{Resources: map[string]state.Entry{}}
		for _, a := range c.recorded {
			s.Resources[a] = state.Entry{}
		}
		var want []moves.Move
		if c.want != nil {
			want = []moves.Move{{From: c.want[0], To: c.want[1]}}
		}
		if got := impliedMoves(declared(c.declared...), s); !reflect.DeepEqual(got, want) {
			t.Errorf("%v declared, %v recorded: %v, want %v", c.declared, c.recorded, got, want)
		}
	}
}

func TestMoves_TwoRoundsMakeOne(t *testing.T) {
	t.Parallel()
	got := chain([]moves.Move{{From: "a", To: "b"}, {From: "c", To: "d"}}, []moves.Move{{From: "b", To: "b[0]"}, {From: "d", To: "c"}, {From: "e", To: "e[0]"}})
	if fmt.Sprint(got) != "[{a b[0] } {e e[0] }]" {
		t.Error(got)
	}
}

// Of which removed block an entry is costs no more among many blocks.
func TestRemovedBlock_IsResolved(t *testing.T) {
	cost := func(n int) float64 {
		var text strings.Builder
		prior := state.Snapshot{Resources: map[string]state.Entry{}}
		for i := range n {
			fmt.Fprintf(&text, "removed {\n  from = resource.r%d\n}\n", i)
			prior.Resources[fmt.Sprintf("r%d[0]", i)] = state.Entry{}
		}
		m, diags := config.Load(config.Sources{Workspace: "/w", Dir: "/w", Manifests: []config.File{{Path: "main.hcl", Bytes: []byte(text.String())}}},
			nil, config.Builtins{Version: "0.1.0", Home: "/"})
		s := New(m, prior, Selection{})
		if diags = append(diags, s.Begin()...); diags.HasErrors() {
			t.Fatal(diags)
		}
		return testing.AllocsPerRun(1, func() {
			for addr := range prior.Resources {
				if block := s.RemovedBlock(addr); block == nil || block.From+"[0]" != addr {
					t.Fatal(addr, block)
				}
			}
		}) / float64(n)
	}
	if few, many := cost(50), cost(400); many > 2*few {
		t.Errorf("%.0f allocations an entry among 400, %.0f among 50", many, few)
	}
}
