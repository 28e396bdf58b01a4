package subject

import (
	"fmt"
	"reflect"
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
