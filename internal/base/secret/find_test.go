package secret

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestValues_AreTextsAndNumbers(t *testing.T) {
	t.Parallel()
	config := json.RawMessage(`{"login":{"pin":7,"user":"admin","word":"hunter2!","empty":""},"on":true}`)
	for name, c := range map[string]struct{ pointers, want []string }{
		"none":                   {nil, nil},
		"texts and numbers only": {[]string{"/login/pin", "/login/word", "/login/empty", "/on"}, []string{"7", "hunter2!"}},
		"all below an object":    {[]string{"/login"}, []string{"7", "admin", "hunter2!"}},
		"the document":           {[]string{""}, []string{"7", "admin", "hunter2!"}},
		"nothing there":          {[]string{"/log"}, nil},
	} {
		if got := Values(config, c.pointers); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestFind_ReturnsThePointersOfSecrets(t *testing.T) {
	t.Parallel()
	state := json.RawMessage(`{"a":["x","hunter2!"],"n":7,"m":77,"s":"abc","t":"abcd","url":"u:hunter2!@h"}`)
	got := Find(state, []string{"hunter2!", "7", "abc"})
	if want := []string{"/a/1", "/n", "/s", "/url"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Most manifests have no secret, and each state of each resource is searched.
func TestFind_ReadsNothingWithoutSecrets(t *testing.T) {
	value, none := json.RawMessage(`{"a":"b"}`), NewHider(nil)
	if n := testing.AllocsPerRun(10, func() { FindWith(value, none) }); n > 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func TestFind_Keys(t *testing.T) {
	t.Parallel()
	for value, want := range map[string][]string{
		`{"k":{"hunter2":{"x":"hunter2"}},"l":[{"of hunter2":1}],"m":{"x":1}}`: {"/k", "/l/0"},
		`{"hunter2":1,"b":"hunter2"}`:                                          {""},
		`{"k":{"7":1,"abc":2}}`:                                                nil, // short keys are words of documents
	} {
		if got := Find(json.RawMessage(value), []string{"hunter2", "7", "abc"}); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
}

func TestBelow_DropsNestedAndMissingPointers(t *testing.T) {
	t.Parallel()
	value := json.RawMessage(`{"a":{"b":{"c":1}},"l":[1,2]}`)
	if got, want := Below(value, []string{"/a/b", "/l/1", "/a/b/c", "/no"}), []string{"/a/b", "/l/1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestHidePath_EndsBeforeASecretKey(t *testing.T) {
	t.Parallel()
	hider := NewHider([]string{"p/w~d"})
	for pointer, want := range map[string]string{
		"":              "",
		"/a/b":          "/a/b",
		"/a/p/w~d/c":    "/a",
		"/a/p~1w~0d/c":  "/a",
		"/a/x p~1w~0d":  "/a",
		"/p/w~d":        "",
		"p/w~d":         "",
		"/a/p%2Fw~d/x":  "/a",
		"/a/cC93fmQ=/x": "/a",
	} {
		if got := HidePath(pointer, hider.Hide); got != want {
			t.Errorf("%q became %q, want %q", pointer, got, want)
		}
	}
}

func TestFindEnv_ReturnsTheNamesOfVariables(t *testing.T) {
	t.Parallel()
	got := FindEnv(map[string]string{"B": "x hunter2", "A": "abc", "C": "abcd"}, NewHider([]string{"abc", "hunter2"}))
	if want := []string{"A", "B"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestMaskPart_MasksBelowAndAboveAPointer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ value, path, want string }{
		"at a pointer":     {`{"a":1}`, "/login", `"` + Masked + `"`},
		"below it":         {`1`, "/login/pin", `"` + Masked + `"`},
		"above it":         {`{"login":{}}`, "", `"` + Masked + `"`},
		"beside it":        {`1`, "/log", `1`},
		"repeats a secret": {`{"a":"hunter2","b":2}`, "/log", `{"a":"` + Masked + `","b":2}`},
	} {
		got := MaskPart(json.RawMessage(c.value), c.path, []string{"/login"}, []string{"hunter2"})
		if string(got) != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
