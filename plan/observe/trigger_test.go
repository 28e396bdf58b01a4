package observe

import (
	"encoding/json"
	"strings"
	"testing"

	"deployster/state"
)

func TestView_Differs(t *testing.T) {
	t.Parallel()
	was := state.Entry{Type: "t:1", Config: json.RawMessage(`{"size":1,"tags":{"a":"x"}}`), State: json.RawMessage(`{"ip":"1","list":[{"n":1}]}`)}
	same := View{Type: "t:1", Config: was.Config, State: was.State}
	for name, c := range map[string]struct {
		path    string
		now     View
		unknown map[string]string
		differs bool
	}{
		"nothing":                     {"state ip", same, nil, false},
		"all of the state":            {"state", same, nil, false},
		"deep inside":                 {"state list 0 n", same, nil, false},
		"another value":               {"state ip", View{State: json.RawMessage(`{"ip":"2"}`)}, nil, true},
		"another beside it":           {"state list", View{State: json.RawMessage(`{"ip":"2","list":[{"n":1}]}`)}, nil, false},
		"no state is known":           {"state ip", View{Partial: true}, nil, true},
		"not in a forecast":           {"state ip", View{State: json.RawMessage(`{}`), Partial: true}, nil, true},
		"in neither":                  {"state no", same, nil, false},
		"in neither, but it may come": {"state no", View{State: was.State, Partial: true}, nil, true},
		"known after apply":           {"state ip", View{State: was.State, Unknown: []string{"/ip"}}, nil, true},
		"below what is not known":     {"state list 0", View{State: was.State, Unknown: []string{"/list"}}, nil, true},
		"above what is not known":     {"state", View{State: was.State, Unknown: []string{"/list/0"}}, nil, true},
		"beside what is not known":    {"state ip", View{State: was.State, Unknown: []string{"/i"}}, nil, false},
		"the config":                  {"config size", View{Config: json.RawMessage(`{"size":2}`)}, nil, true},
		"the same config":             {"config tags a", View{Config: json.RawMessage(`{"tags":{"a":"x"}}`)}, nil, false},
		"a config that is not known":  {"config size", same, map[string]string{"/size": "resource.x.state.size"}, true},
		"a config beside what is not": {"config tags", same, map[string]string{"/size": "resource.x.state.size"}, false},
		"the type":                    {"type", View{Type: "t:2"}, nil, true},
		"the name never does":         {"name", View{}, nil, false},
	} {
		if got := c.now.Differs(strings.Fields(c.path), was, c.unknown); got != c.differs {
			t.Errorf("%s: %t", name, got)
		}
	}
}
