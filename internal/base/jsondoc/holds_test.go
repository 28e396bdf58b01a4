package jsondoc

import (
	"encoding/json"
	"testing"
)

// A state has what was forecast, except where that was not known.
func TestUnfulfilled_NamesTheFirstBrokenForecast(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		forecast, state string
		unknown         []string
		want            string
	}{
		{`{"a":1}`, `{"a":1,"b":2}`, nil, ""},
		{`{"a":1}`, `{"a":2}`, nil, "state.a is 2, the forecast was 1"},
		{`{"a":1}`, `{}`, nil, "state.a is missing, though it was forecast"},
		{`{"a":1}`, `{}`, []string{"/a"}, ""},
		{`{"l":["x",null]}`, `{"l":["x","y"]}`, []string{"/l/1"}, ""},
		{`{"l":["x",null]}`, `{"l":["z","y"]}`, []string{"/l/1"}, `state.l[0] is "z", the forecast was "x"`},
		{`{"l":["x",null]}`, `{"l":["x","y"]}`, nil, `state.l[1] is "y", the forecast was null`},
		{`{"l":["x",null]}`, `{"l":["x"]}`, []string{"/l/1"}, `state.l is ["x"], the forecast was ["x",null]`},
		{`{"l":[{"a":1}]}`, `{"l":[{"a":1,"b":2}]}`, []string{"/l/0/b"}, ""},
		{`{"a/b":{"c":1}}`, `{"a/b":{"c":2}}`, []string{"/a~1b/c"}, ""},
	} {
		if got := Unfulfilled(json.RawMessage(c.forecast), json.RawMessage(c.state), c.unknown); got != c.want {
			t.Errorf("%s, %s but %q: %q, want %q", c.forecast, c.state, c.unknown, got, c.want)
		}
	}
}

// Of a list either all is removed, or one element is blanked.
func TestBlanked_RemovesKeysAndBlanksElements(t *testing.T) {
	t.Parallel()
	const doc = `{"a":{"b":1,"c":2},"l":["x",{"y":1,"z":2}],"n":1}`
	pointers := []string{"/a/b", "/l/0", "/l/1/z", "/l/7", "/l/x", "/n/deeper", "/none"}
	if got, want := string(Blanked(json.RawMessage(doc), pointers)), `{"a":{"c":2},"l":[null,{"y":1}]}`; got != want {
		t.Errorf("blanked: %s, want %s", got, want)
	}
	if got, want := string(Without(json.RawMessage(doc), pointers)), `{"a":{"c":2}}`; got != want {
		t.Errorf("without: %s, want %s", got, want)
	}
}
