package jsondoc_test

import (
	"testing"

	"deployster/internal/base/jsondoc"
)

func TestEdits_NameEachChangedPointer(t *testing.T) {
	for name, c := range map[string]struct{ old, now, want string }{
		"nothing":               {`{"a":1,"b":[1,{}]}`, `{"b": [1, {}], "a":1}`, ""},
		"a key goes":            {`{"a":1,"b":{"c":1}}`, `{"a":1}`, "/b removed"},
		"a key comes":           {`{"a":1}`, `{"a":1,"b":null}`, "/b added"},
		"a value changes":       {`{"a":{"b/c":1}}`, `{"a":{"b/c":2}}`, "/a/b~1c changed"},
		"another kind":          {`{"a":{"b":1}}`, `{"a":[1]}`, "/a changed"},
		"an element changes":    {`[1,2,3]`, `[1,4,3]`, "/1 changed"},
		"a list of more":        {`{"a":[1,2]}`, `{"a":[1,2,3]}`, "/a changed"},
		"a number and its text": {`{"a":1}`, `{"a":"1"}`, "/a changed"},
		"more than three":       {`{"a":1,"b":1,"c":1,"d":1,"e":1}`, `{"f":1}`, "/a removed, /b removed, /c removed and 3 more"},
		"no JSON":               {`{`, `{}`, "changed"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := jsondoc.EditWords(jsondoc.Edits([]byte(c.old), []byte(c.now))); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
