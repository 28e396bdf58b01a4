package observe

import (
	"encoding/json"
	"testing"

	"deployster/internal/runtime/runner/typeschema"
	"deployster/protocol"
	"deployster/state"
)

func TestRecordable_OmitsUnrecordedValues(t *testing.T) {
	t.Parallel()
	ty := protocol.Type{ConfigSchema: json.RawMessage(`{"properties":{"name":{},"word":{"writeOnly":true,"x-unrecorded":true},
		"pin":{"writeOnly":true},"users":{"type":"array","items":{"$ref":"#/$defs/user"}}},
		"$defs":{"user":{"properties":{"word_wo":{"x-unrecorded":true},"n":{}}}}}`)}
	schemas := &typeschema.Schemas{}
	for _, c := range []struct{ config, recorded, later, completed string }{
		{`{"name":"a","pin":"1"}`, `{"name":"a","pin":"1"}`, `{"name":"b"}`, `{"name":"a","pin":"1"}`},
		{`{"name":"a","word":"s"}`, `{"name":"a"}`, `{"name":"a","word":"other"}`, `{"name":"a","word":"other"}`},
		{`{"name":"a"}`, `{"name":"a"}`, `{"name":"a","word":"s"}`, `{"name":"a","word":"s"}`},
		{`{"name":"a","word":"s"}`, `{"name":"a"}`, `{"name":"a"}`, `{"name":"a"}`},
		{`{"users":[{"n":1,"word_wo":"s"},{"n":2}]}`, `{"users":[{"n":1},{"n":2}]}`, `{"users":[{"n":1,"word_wo":"s"}]}`,
			`{"users":[{"n":1,"word_wo":"s"},{"n":2}]}`},
	} {
		recorded := Recordable(schemas, ty, json.RawMessage(c.config))
		if string(recorded) != c.recorded {
			t.Errorf("%s is recorded as %s, want %s", c.config, recorded, c.recorded)
		}
		if got := Completed(schemas, ty, state.Entry{Config: recorded}, json.RawMessage(c.later)); string(got.Config) != c.completed {
			t.Errorf("%s with %s is %s, want %s", recorded, c.later, got.Config, c.completed)
		}
	}
}
