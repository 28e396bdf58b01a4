package typeclient

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeschema"
)

func marked(config ...string) places {
	return newPlaces(&typeschema.Schemas{}, json.RawMessage(`{"properties":{"password":{"writeOnly":true}}}`), config)
}

func TestSecretsIn_ReadsStatesForecastsAndReasons(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string][]string{
		`{"status":"VALID","state":{"name":"db","password":"p1"}}`:                                          {"p1"},
		`{"status":"STALE","staleState":{"password":"p1"},"forecast":{"password":"p2"},"actions":["oops"]}`: {"p1", "p2"},
		`{"status":"VALID","state":{"name":"db"}}`:                                                          nil,
		`{"state":{"password":"p1"}`:                                                                        nil,
		`{"staleState":{"login":{"pin":"p3"}}}`:                                                             {"p3"},
		`{"staleState":{},"reasons":[{"path":"/login/pin","have":"p4","want":"p5"},{"path":"/login","have":{"pin":"p6","user":"u"}},{"path":"","want":{"login":{"pin":"p7"}}},{"path":"/name","have":"n"}]}`: {"p4", "p5", "p6", "p7"},
		`{"staleState":{},"reasons":[{"path":"/password","have":"p9"}]}`:                {"p9"},
		`{"staleState":{"password":"p1"},"reasons":[{"path":"/password","have":"p8"}]}`: {"p1", "p8"},
	} {
		if got := marked("/login/pin").secretsIn([]byte(answer)); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", answer, got, want)
		}
	}
}

func TestPlaces_Masked(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		`{"config":{"login":{"pin":true},"name":"n"},"last_state":{"password":false}}`:                            `{"config":{"login":{"pin":"(sensitive value)"},"name":"n"},"last_state":{"password":"(sensitive value)"}}` + "\n",
		`{"state":{"login":{"pin":{"key":1}}},"status":"VALID"}`:                                                  `{"state":{"login":{"pin":"(sensitive value)"}},"status":"VALID"}` + "\n",
		`{"reasons":[{"path":"/login/pin/key","have":1,"want":2},{"path":"/login","have":{"pin":1,"user":"u"}}]}`: `{"reasons":[{"path":"/login/pin","have":"(sensitive value)","want":"(sensitive value)"},{"path":"/login","have":{"pin":"(sensitive value)","user":"u"}}]}` + "\n",
		`{"reasons":[{"path":"/password","have":"p"}]}`:                                                           `{"reasons":[{"path":"/password","have":"(sensitive value)"}]}` + "\n",
		"no message": "no message",
	} {
		if got := string(marked("/login/pin").masked([]byte(message))); got != want {
			t.Errorf("%s became %s, want %s", message, got, want)
		}
	}
}

// Most types mark nothing, and each message of each resource is searched.
func TestPlaces_ReadNoMessageWithoutMarks(t *testing.T) {
	p, message := newPlaces(&typeschema.Schemas{}, json.RawMessage(`{"properties":{}}`), nil), []byte(`{"state":{"a":"b"}}`)
	if n := testing.AllocsPerRun(10, func() { p.secretsIn(message); p.masked(message) }); n > 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// No value at a sensitive place is recorded, also where nobody could search for it: a boolean.
func TestInvocation_HasNoValueAtASensitivePlace(t *testing.T) {
	t.Parallel()
	k := call{target: Target{Sensitive: []string{"/login"}}, stdin: []byte(`{"config":{"login":true}}`)}
	places := newPlaces(&typeschema.Schemas{}, k.states, k.target.Sensitive)
	i := k.invocation(places, time.Now(), runner.Result{Stdout: []byte(`{"state":{"login":false}}`)}, nil)
	const input, output = `{"config":{"login":"(sensitive value)"}}`, `{"state":{"login":"(sensitive value)"}}`
	if got := strings.TrimSpace(string(i.Stdin)); got != input {
		t.Errorf("the input is recorded as %s", got)
	}
	if got := strings.TrimSpace(string(i.Result.Stdout)); got != output {
		t.Errorf("the answer is recorded as %s", got)
	}
}
