package jsondoc

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestRewrite_ReplacesInKeysAndValues(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"a":"pine","b":["x","pine"],"pine":1}`, `{"a":"(gone)","b":["x","(gone)"],"pine":1}`},
		{` { "value" : {"pine" : 5, "n":5.5e3} , "k":"a\"pine\u0041" } `, ` { "value" : {"(gone)" : 5, "n":5.5e3} , "k":"a\"(gone)A" } `},
		{`{"value":[{"a":{}},{"pine":77}],"pine":[77,-770]}`, `{"value":[{"a":{}},{"(gone)":"(gone)"}],"pine":["(gone)","-(gone)0"]}`},
		{`"pine"`, `"(gone)"`},
		{`[]`, `[]`},
		{`{"type":"pine","a":{"type":"pine"}}`, `{"type":"pine","a":{"type":"(gone)"}}`},
	} {
		got := Rewrite([]byte(c.in), func(text string, at Place) string {
			if at.Key && (len(at.Path) == 0 || at.Path[0] != "value") || len(at.Path) == 1 && at.Path[0] == "type" {
				return text
			}
			return strings.NewReplacer("pine", "(gone)", "77", "(gone)").Replace(text)
		})
		if string(got) != c.want || !json.Valid(got) {
			t.Errorf("%s:\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

// Nothing changes that nobody changes, and nothing breaks what is valid.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"plain", "with \"quotes\" and \\ and \n\r\t\b\f\x00\x7f", "ä\u2028<&>\xff", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, err := Encode(text)
		if got := AppendText([]byte("x"), text); err != nil || string(got) != "x"+string(want) {
			t.Fatalf("%q is written as %s, not as %s (%v)", text, got, want, err)
		}
		var back string
		if err := json.Unmarshal(want, &back); err != nil || Text(want) != back {
			t.Fatalf("%s is read as %q, not as %q (%v)", want, Text(want), back, err)
		}
	})
}

func FuzzRewrite(f *testing.F) {
	f.Add([]byte(`{"a":[1,2.5e-7,{"b":"\ud83d\ude00 \\"},null,true],"c":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if Check(data) != nil {
			return
		}
		if same := Rewrite(data, func(text string, _ Place) string { return text }); string(same) != string(data) {
			t.Fatalf("%q became %q", data, same)
		}
		if other := Rewrite(data, func(text string, at Place) string { return text + "\"\x00" }); !json.Valid(other) {
			t.Fatalf("%q became %q", data, other)
		}
	})
}
