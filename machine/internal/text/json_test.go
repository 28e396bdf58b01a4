package text_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"

	"deployster/machine/internal/kindtest"
	"deployster/machine/internal/text"
)

func TestJSON_Edits(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	for name, c := range map[string]struct {
		before, pointer string
		value           any
		want, removed   string
	}{
		"changes a value": {"{\n  \"a\" : 1,\n\n  \"b\": [1,2]\n}\n", "/a", 2, "{\n  \"a\" : 2,\n\n  \"b\": [1,2]\n}\n", "{\n  \"b\": [1,2]\n}\n"},
		"is added last":   {"{\n    \"z\": 1,\n    \"a\": 2\n}", "/m", "x", "{\n    \"z\": 1,\n    \"a\": 2,\n    \"m\": \"x\"\n}", "{\n    \"z\": 1,\n    \"a\": 2\n}"},
		"is added to a compact file": {`{"a":1}`, "/b", object{"c": []int{1}}, `{"a":1,"b":{"c":[1]}}`,
			`{"a":1}`},
		"is added with blanks":    {`{ "a": 1 }` + "\n", "/b", true, `{ "a": 1, "b": true }` + "\n", `{ "a": 1 }` + "\n"},
		"is added to an empty":    {"{}\n", "/b/c", 1, "{\n  \"b\": {\n    \"c\": 1\n  }\n}\n", "{\n  \"b\": {\n  }\n}\n"},
		"makes an empty file":     {"", "/b", object{"c": 1}, "{\n  \"b\": {\n    \"c\": 1\n  }\n}\n", "{\n}\n"},
		"keeps comments":          {"// x\n{\n\t\"a\": 1 // one\n\t// end\n}\n", "/b", 2, "// x\n{\n\t\"a\": 1, // one\n\t// end\n\t\"b\": 2\n}\n", "// x\n{\n\t\"a\": 1 // one\n}\n"},
		"keeps a trailing comma":  {"{\n  \"a\": 1,\n}\n", "/b", 2, "{\n  \"a\": 1,\n  \"b\": 2,\n}\n", "{\n  \"a\": 1,\n}\n"},
		"is in an element":        {"{\n  \"a\": [{\"x\": 1}, {\"y\": 2}]\n}\n", "/a/1/z", 3, "{\n  \"a\": [{\"x\": 1}, {\"y\": 2, \"z\": 3}]\n}\n", "{\n  \"a\": [{\"x\": 1}, {\"y\": 2}]\n}\n"},
		"has an escaped name":     {"{\"a/b~\":1}", "/a~1b~0", "<&>", "{\"a/b~\":\"<&>\"}", "{}"},
		"keeps CRLF":              {"{\r\n  \"a\": 1\r\n}\r\n", "/b", object{"c": 1}, "{\r\n  \"a\": 1,\r\n  \"b\": {\r\n    \"c\": 1\r\n  }\r\n}\r\n", "{\r\n  \"a\": 1\r\n}\r\n"},
		"keeps large numbers":     {"{\"a\":12345678901234567890123}", "/b", 1.5, "{\"a\":12345678901234567890123,\"b\":1.5}", "{\"a\":12345678901234567890123}"},
		"replaces another type":   {"{\n  \"a\": {\"x\": 1}\n}\n", "/a", false, "{\n  \"a\": false\n}\n", "{\n}\n"},
		"is an empty object":      {"{\n  \"a\": {\"x\": 1}\n}\n", "/a", object{}, "{\n  \"a\": {}\n}\n", "{\n}\n"},
		"takes the place of null": {"{\n  \"a\": null\n}\n", "/a", "x", "{\n  \"a\": \"x\"\n}\n", "{\n}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := file(t, c.before)
			k := kindtest.New(t, text.NewJSON(m))
			cfg := config{"path": "/etc/x", "pointer": c.pointer, "value": c.value}
			k.Apply(cfg)
			holds(t, m, c.want)
			if a := k.State(cfg); a.Status != "VALID" {
				t.Errorf("%+v", a)
			}
			k.Destroy(cfg)
			holds(t, m, c.removed)
			k.Destroy(cfg)
		})
	}
}

func TestJSON_RefusesInvalidText(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"{\"a\": 1\n":          "is not JSON",
		"{\"a\": 1, \"a\": 2}": "more than once",
		"[1]":                  "is in a list",
		"3":                    "neither an object nor a list",
	} {
		m := file(t, content)
		k := kindtest.New(t, text.NewJSON(m))
		c := config{"path": "/etc/x", "pointer": "/a", "value": 3}
		k.Fails(c, "config", want)
		k.DestroyFails(c, "config", want)
		holds(t, m, content)
	}
	m := file(t, `{"a":[1],"b":2}`)
	k := kindtest.New(t, text.NewJSON(m))
	k.Fails(config{"path": "/etc/x", "pointer": "/a/0", "value": 3}, "/pointer", "give the whole list")
	k.Fails(config{"path": "/etc/x", "pointer": "/a/7/b", "value": 3}, "/pointer", "a list of 1 elements")
	k.Fails(config{"path": "/etc/x", "pointer": "/b/c/d", "value": 3}, "/pointer", "neither an object nor a list")
	k.Fails(config{"path": "/etc/x", "pointer": "/b", "value": nil}, "/value", "null")
}

func TestJSON_DriftIsNoticed(t *testing.T) {
	t.Parallel()
	m := file(t, `{"a": {"x": [1, 2.0], "y": "z"}}`)
	k := kindtest.New(t, text.NewJSON(m))
	c := config{"path": "/etc/x", "pointer": "/a", "value": map[string]any{"y": "z", "x": []any{1, 2}}}
	if a := k.State(c); a.Status != "VALID" {
		t.Errorf("%+v", a)
	}
	must(t, os.WriteFile(m.Path("/etc/x"), []byte(`{"a": {"x": [1, 2.0], "y": "z", "more": 1}}`), 0o640))
	if a := k.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Path != "/value" {
		t.Errorf("%+v", a)
	}
	must(t, os.Remove(m.Path("/etc/x")))
	if a := k.State(c); a.Reasons[0].Message != "the file /etc/x does not exist yet" {
		t.Errorf("%+v", a)
	}
	k.Fails(c, "/etc/x does not exist")
}

// TestJSON_RandomEdits wants of any file and any change what a program that reads all and writes
// all would make of it.
func TestJSON_RandomEdits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	m := file(t, "{}")
	k := kindtest.New(t, text.NewJSON(m))
	model := map[string]any{}
	names := []string{"a", "b/", "c~", "d"}
	pointers := []string{"/a", "/b~1", "/c~0", "/d"}
	for i := range randomEdits {
		n, inner := r.IntN(4), r.IntN(4)
		c := config{"path": "/etc/x", "pointer": pointers[n]}
		value := []any{"x", true, float64(r.IntN(9)), []any{"<", float64(1)}, map[string]any{"p": map[string]any{}, "q": []any{}}}[r.IntN(5)]
		c["value"] = value
		parent := model
		name := names[n]
		if sub, ok := model[name].(map[string]any); ok && r.IntN(2) == 0 {
			c["pointer"], parent, name = pointers[n]+pointers[inner], sub, names[inner]
		}
		k.Last = nil
		if r.IntN(4) == 0 {
			k.Destroy(c)
			delete(parent, name)
		} else {
			k.Apply(c)
			parent[name] = clone(t, value)
		}
		raw, err := os.ReadFile(m.Path("/etc/x"))
		must(t, err)
		var got map[string]any
		if err := json.Unmarshal(raw, &got); err != nil || !reflect.DeepEqual(got, model) {
			t.Fatalf("%d: %v made %s, and should make %v (%v)", i, c, raw, model, err)
		}
		if r.IntN(5) == 0 { // by hand, in another style
			if r.IntN(2) == 0 {
				raw, err = json.Marshal(model)
			} else {
				raw, err = json.MarshalIndent(model, "", "\t")
			}
			must(t, err)
			must(t, os.WriteFile(m.Path("/etc/x"), raw, 0o640))
		}
	}
}

func clone(t *testing.T, v any) (out any) {
	t.Helper()
	raw, err := json.Marshal(v)
	must(t, err)
	must(t, json.Unmarshal(raw, &out))
	return out
}
