package typeclient

import (
	"encoding/json"
	"strings"
	"testing"

	"deployster/internal/runtime/runner/typeschema"
	"deployster/protocol"
)

func TestDiscover_Answers(t *testing.T) {
	t.Parallel()
	ty := protocol.Type{ConfigSchema: json.RawMessage(`{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}`)}
	for says, want := range map[string]string{
		"":                         "",
		"{\"config\":{\"n\":1}}":   "{\"n\":1} ",
		"{\"config\":{\"n\":1}}\n": "{\"n\":1} ",
		"{\"config\":{\"n\":1},\"name\":\"a\"}\n{\"config\":{\"n\":2}}\n": "{\"n\":1} a{\"n\":2} ",
		"{\"name\":\"a\"}":                "line 1: \"config\" is missing",
		"{\"config\":5}":                  "line 1: \"config\" is a number",
		"{\"config\":{\"n\":1}}\n\n":      "line 2: ",
		"{\"config\":{\"n\":\"x\"}}":      "line 1 does not match the image's own config_schema: config.n must be an integer",
		"{\"config\":{\"n\":1},\"id\":1}": "line 1: the key \"id\" is not known",
		"{\"config\":{\"n\":1,\"x\":\"" + strings.Repeat("x", 1<<20) + "\"}}": "line 1 has more than 1 MiB",
	} {
		list, err := readDiscovered(nil, []byte(says), func(config json.RawMessage) []typeschema.Violation {
			return New(Options{}).CheckConfig(ty, config, nil)
		})
		got := ""
		for _, d := range list {
			got += string(d.Config) + " " + d.Name
		}
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != want || err != nil && (want == "" || !strings.HasPrefix(got, want)) {
			t.Errorf("%.60s: %.200s, want %s", says, got, want)
		}
	}
}
