package jsondoc

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestCheck_RefusesInvalidJSON(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, good := range []string{
		`{}`, ` [1, 2.50, -0, 1e400, "é", "\u00e9", "\ud83d\ude00", "\ufffd", "�", null, true, {"a":{"a":[{"a":1},{"a":2}]}}] `,
		`{"a":1,"A":2}`, `"[[["`, `"\\"`, `"\"{"`, deep(MaxDepth), `1`, `{"":1}`, "\t\r\n0\n",
		`{"a":"a","b":{"b":"b"}}`, `[{"a":1},{"a":1}]`,
	} {
		if err := Check([]byte(good)); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for bad, want := range map[string]string{
		``: "not JSON", "  \n": "not JSON", `{`: "ends too early", `{"a":1`: "ends too early", `nul`: "ends too early", `nope`: "not JSON", `{a:1}`: "not JSON", `[1,]`: "not JSON", `{"a":1,}`: "not JSON",
		`1 2`: "more than one", "{}\n{}": "more than one", `{} x`: "something follows", `[] ]`: "something follows", `{"a":1}}`: "something follows",
		`{"a":1,"a":1}`: `"a" is given twice`, `{"a":1,"\u0061":1}`: `"a" is given twice`, `{"":1,"":1}`: `"" is given twice`, `[0,{"x":{"b":1,"c":[],"b":{}}}]`: "[1].x",
		deep(MaxDepth + 1): "nested deeper", strings.Repeat(`{"a":`, 3_000_000): "nested deeper",
		`1e401`: "exponent", `1e-401`: "exponent", `[1E+99999999999999999999]`: "exponent", strings.Repeat("9", MaxDigits+1): "digits",
		"\"\xff\"": "invalid UTF-8", "{\"\xc3\":1}": "invalid UTF-8", "\xef\xbb\xbf{}": "not JSON", `"\ud800"`: "surrogate", `{"\udc00":1}`: "surrogate", `"\ufffd\ud800"`: "surrogate",
		"\"\x01\"": "not JSON", `NaN`: "not JSON", `01`: "more than one", `'a'`: "not JSON",
	} {
		err := Check([]byte(bad))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", bad, err, want)
		}
		var se *SyntaxError
		if err != nil && !errors.As(err, &se) && !errors.Is(err, ErrEmpty) {
			t.Errorf("%.60q: %T", bad, err)
		}
		if se != nil && (se.Offset < 0 || se.Offset > int64(len(bad))) {
			t.Errorf("%.60q: offset %d", bad, se.Offset)
		}
	}
}

func TestCheck_IsBounded(t *testing.T) {
	t.Parallel()
	many := "[" + strings.Repeat("1,", 2*MaxNodes+2) + "1]"
	start := time.Now()
	if err := Check([]byte(many)); err == nil || !strings.Contains(err.Error(), "values") {
		t.Errorf("%v", err)
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("took %s", d)
	}
}

func TestCanonical_SortsKeysAndKeepsNumbers(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		` { "b" : 1 , "a" : [ 1.10 , 9007199254740993, 1E3 ] } `: `{"a":[1.10,9007199254740993,1E3],"b":1}`,
		`"\u003c\/\u00e9"`:         `"</é"`,
		`{"z":{"y":{},"x":[]}}`:    `{"z":{"x":[],"y":{}}}`,
		`"<>&` + "\u2028" + `"`:    `"<>&\u2028"`,
		`{"A":1,"a":2,"\u0000":3}`: "{\"\\u0000\":3,\"A\":1,\"a\":2}",
	} {
		got, err := Canonical([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s %v, want %s", in, got, err, want)
			continue
		}
		if again, err := Canonical(got); err != nil || string(again) != want {
			t.Errorf("%s is not stable: %s %v", in, again, err)
		}
	}
	if _, err := Canonical([]byte(`{"a":1,"a":2}`)); err == nil {
		t.Error("a duplicate key has a canonical form")
	}
}

func TestObject_RefusesOtherKinds(t *testing.T) {
	t.Parallel()
	m, err := Object([]byte(`{"a":{"b":1},"A":null}`))
	if err != nil || string(m["a"]) != `{"b":1}` || string(m["A"]) != "null" || len(m) != 2 {
		t.Errorf("%v %v", m, err)
	}
	for in, want := range map[string]string{`[]`: "a list", `"x"`: "a string", `null`: "null", `true`: "a boolean", `-1`: "a number", ``: "not JSON"} {
		if _, err := Object([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func TestPointer_RoundTrips(t *testing.T) {
	t.Parallel()
	for _, p := range []string{"", "/", "/a", "/a~1b/~0/0"} {
		if got := JoinPointer(Pointer(p)); got != p {
			t.Errorf("%q became %q", p, got)
		}
	}
}

// FuzzCheck: what passes is JSON for encoding/json too, and has a canonical
// form which passes and stays.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":[1,2,{"b":null}]}`, `"\ud83d\ude00"`, `[1e400,-0.0]`, `{"a":1,"a":2}`, `[[[[`, "\"\xff\"", `{"":{"":""}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if Check(data) != nil {
			return
		}
		if !json.Valid(data) {
			t.Fatalf("took %q", data)
		}
		c, err := Canonical(data)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Canonical(c)
		if err != nil || string(again) != string(c) {
			t.Fatalf("%q became %q, then %q, %v", data, c, again, err)
		}
	})
}
