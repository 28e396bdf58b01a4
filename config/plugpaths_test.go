package config

import (
	"encoding/json"
	"testing"
)

// A plug is the path at which it is mounted, where the type expects one and nowhere else.
func TestPlugPaths_WhereTheTypeExpectsThem(t *testing.T) {
	t.Parallel()
	const plug = `{"name":"site","path":"/home/me/site","read_only":false}`
	for value, want := range map[string]string{
		`{"also":` + plug + `,"source":` + plug + `}`:       `{"also":` + plug + `,"source":"/plugs/site"}`,
		`{"from":{"source":` + plug + `}}`:                  `{"from":{"source":"/plugs/site"}}`,
		`{"source":{"name":"site","path":"/home/me/site"}}`: `{"source":{"name":"site","path":"/home/me/site"}}`,
		`{"source":"/plugs/site/a"}`:                        `{"source":"/plugs/site/a"}`,
		`{"source":null}`:                                   `{"source":null}`,
		`{}`:                                                `{}`,
	} {
		if got := plugPaths(json.RawMessage(value), []string{"/source", "/from/source"}); string(got) != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
	}
}
