package content

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// An entry is read as encoding/json reads it, and what that refuses is refused.
func TestDecodeEntry_EqualsEncodingJSON(t *testing.T) {
	for _, c := range []struct {
		text string
		bad  bool
	}{
		{`{"type":"a:1","digest":"sha256:1","config":{"b":1,"a":[ ]},"state":{"z":{}},"valid_at":"2026-11-21T19:10:04.905150947Z",
		  "dependencies":["x","y[\"k\"]"],"mounts":[{"source":"/a","target":"/b","writable":true}],"on_remove":"destroy"}`, false},
		{`{"type":"\u0061:1","digest":"","config":{},"dependencies":null,"mounts":null,"valid_at":null,"state":null}`, false},
		{`{"type":"a","digest":"d","config":{"\"k\"":"\u2028"},"aliases":{"db":"x"},"touched":true,"state_timeout":"5m0s",
		  "found":{"state":{"b":1,"a":2},"at":"2026-11-21T19:10:04Z"},"sensitive":{"config":["/k"]},"prevent_destroy":true,"settings":{"network":"none"}}`, false},
		{`{"type":null,"digest":"d","config":{}}`, false},
		{`{"Type":"a","digest":"d","config":{}}`, false}, // encoding/json does not mind
		{`{"type":1,"digest":"d","config":{}}`, true},
		{`{"type":"a","digest":"d","config":{},"more":1}`, true},
		{`{"type":"a","digest":"d","config":{},"mounts":[{"source":"/a","more":1}]}`, true},
		{`{"type":"a","digest":"d","config":{},"valid_at":"yesterday"}`, true},
		{`{"type":"a","digest":"d","config":{},"dependencies":[1]}`, true},
		{`[]`, true},
	} {
		var want Entry
		got, err := decodeEntry(json.RawMessage(c.text))
		if (err != nil) != c.bad {
			t.Errorf("%s: %v", c.text, err)
		}
		if err != nil {
			continue
		}
		dec := json.NewDecoder(strings.NewReader(c.text))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if want, err = want.Canonical(); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is read as\n%+v, not as\n%+v (%v)", c.text, got, want, err)
		}
	}
}
