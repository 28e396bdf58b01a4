package typeclient

import (
	"deployster/internal/runner/typeschema"
	"encoding/json"
	"slices"
	"testing"
)

func TestSecretsIn(t *testing.T) {
	schema := json.RawMessage(`{"properties":{"password":{"writeOnly":true}}}`)
	for answer, want := range map[string][]string{
		`{"status":"VALID","state":{"name":"db","password":"p1"}}`:                                          {"p1"},
		`{"status":"STALE","staleState":{"password":"p1"},"forecast":{"password":"p2"},"actions":["oops"]}`: {"p1", "p2"},
		`{"status":"VALID","state":{"name":"db"}}`:                                                          nil,
		`{"state":{"password":"p1"}`:                                                                        nil,
	} {
		t.Run(answer, func(t *testing.T) {
			if got := secretsIn(&typeschema.Schemas{}, []byte(answer), schema); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
