package jsondoc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// slowly reads a document as the careful way does.
func slowly(data []byte) (v any, canonical json.RawMessage, err error) {
	if v, err = valueWithin(data, foreign()); err == nil {
		canonical, err = Encode(v)
	}
	return v, canonical, err
}

// holdScan holds the quick look to the careful one: it accepts no more, and what
// it accepts says the same.
func holdScan(t *testing.T, data []byte) (sound, canonical bool) {
	t.Helper()
	sound, canonical = scan(data)
	if !sound {
		return sound, canonical
	}
	v, form, err := slowly(data)
	if err != nil {
		t.Fatalf("accepted %.200q, which is wrong: %s", data, err)
	}
	if quick := read(data); !reflect.DeepEqual(quick, v) {
		t.Fatalf("read %.200q as %.200v, not as %.200v", data, quick, v)
	}
	if quick := inOrder(data); !bytes.Equal(quick, form) {
		t.Fatalf("wrote %.200q in canonical form as %.200q, not as %.200q", data, quick, form)
	}
	holdMembers(t, data)
	if canonical && !bytes.Equal(form, data) {
		t.Fatalf("took %.200q for canonical, but that is %.200q", data, form)
	}
	return sound, canonical
}

// holdMembers holds what is found without reading to what encoding/json reads.
func holdMembers(t *testing.T, data []byte) {
	t.Helper()
	var want map[string]json.RawMessage
	object := KindOf(data) == "an object"
	if object {
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]json.RawMessage{}
	if ok := Members(data, func(key string, value json.RawMessage) { got[key] = value }); ok != object {
		t.Fatalf("members of %.200q: %v", data, ok)
	}
	if object && !reflect.DeepEqual(got, want) {
		t.Fatalf("the members of %.200q are %q, not %q", data, got, want)
	}
}

func TestScan(t *testing.T) {
	many := func(last string) string {
		var b strings.Builder
		for i := range 40 {
			fmt.Fprintf(&b, `"k%02d":%d,`, i, i)
		}
		return "{" + b.String() + `"` + last + `":1}`
	}
	for _, c := range []struct {
		text             string
		sound, canonical bool
	}{
		{`{}`, true, true},
		{`[]`, true, true},
		{`{"a":[1,-2.50,true,false,null,"x"],"b":{"c":""}}`, true, true},
		{` {"a" : [ 1 , 2 ] } `, true, false},
		{`{"b":1,"a":2}`, true, false},
		{`{"b":{"z":1},"c":{"a":1}}`, true, true},
		{`{"a":"line\n\"quoted\" back\\slash\ttab"}`, true, true},
		{`"\/"`, true, false},
		{`"\u0041\u2028\ufffd"`, true, false},
		{`"ä€😀�"`, true, true},
		{"\"\u2028\"", true, false},
		{many("z"), true, true},
		{many("a"), true, false},
		{many("k17"), false, false},
		{`{"a":` + many("z") + `,"b":{"a":1,"c":` + many("z") + `}}`, true, true},
		{`{"a":` + many("z") + `,"b":{"c":1,"d":` + many("z") + `,"c":2}}`, false, false},
		{`{"a":` + strings.Replace(many("z"), ":17,", `:{"y":1,"y":2},`, 1) + `}`, false, false},
		{`{"a":1,"a":2}`, false, false},
		{`[{"a":1},{"a":2}]`, true, true},
		{`{"a":{"b":1},"b":2}`, true, true},
		{`"\ud800"`, false, false},
		{`"\ud83d\ude00"`, false, false}, // right, and rare
		{`{"\u0061":1}`, true, false},
		{`{"\u0061":1,"a":1}`, false, false},
		{`{"a[\"x\"]":1,"a[\"y\"]":{"b":1}}`, true, true},
		{`{"b":1,"a[\"y\"]":{"b\n":1,"b\t":2}}`, true, false},
		{`1e3`, false, false}, // likewise
		{`01`, false, false},
		{`-`, false, false},
		{`1.`, false, false},
		{`.5`, false, false},
		{`+1`, false, false},
		{"\"\x01\"", false, false},
		{"\"\xff\"", false, false},
		{`"\x"`, false, false},
		{`"\u12"`, false, false},
		{`"open`, false, false},
		{`{"a" 1}`, false, false},
		{`{"a":1,}`, false, false},
		{`[1,]`, false, false},
		{`[1 2]`, false, false},
		{`{} {}`, false, false},
		{`nul`, false, false},
		{``, false, false},
		{strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth), true, true},
		{strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1), false, false},
		{strings.Repeat("1", MaxDigits), true, true},
		{strings.Repeat("1", MaxDigits+1), false, false},
		{"[" + strings.Repeat("1,", MaxNodes-2) + "1]", true, true},
		{"[" + strings.Repeat("1,", MaxNodes-1) + "1]", false, false},
	} {
		sound, canonical := holdScan(t, []byte(c.text))
		if sound != c.sound || sound && canonical != c.canonical {
			t.Errorf("scan(%.80q) = %t, %t, want %t, %t", c.text, sound, canonical, c.sound, c.canonical)
		}
	}
}

func TestCanonicalIsACopy(t *testing.T) {
	data := []byte(`{"a":1}`)
	c, err := Canonical(data)
	if err != nil {
		t.Fatal(err)
	}
	data[2] = 'b'
	if string(c) != `{"a":1}` {
		t.Fatalf("what was read changed it to %s", c)
	}
}

func FuzzScan(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-2.5e3,"x\n"],"b":{"c":null}}`, "\"\\u2028\u2028\"", `{"a":1,"a":2}`, ` [ true ,false]`, `"\ud83d\ude00"`, `-0`, `{"":0}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { holdScan(t, data) })
}

func BenchmarkCheck(b *testing.B) {
	data := []byte(`{"status":"VALID","state":{"id":"id of disk-17","size":10,"labels":["a","b"],"mount":{"path":"/srv","read_only":false}}}`)
	for b.Loop() {
		if err := Check(data); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
}
