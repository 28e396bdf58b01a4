package jsondoc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"
)

// holdReaders holds what jsontext makes of a document to what encoding/json does.
func holdReaders(t *testing.T, data []byte) (sound bool) {
	t.Helper()
	err := check(data, foreign())
	if slow := explain(data, foreign()); (err == nil) != (slow == nil) {
		t.Fatalf("%.200q: quickly %v, slowly %v", data, err, slow)
	}
	if err != nil {
		if form, wrong := Canonical(data); form != nil || wrong == nil || wrong.Error() != err.Error() {
			t.Fatalf("wrote %.200q in canonical form as %.200q (%v), want %v", data, form, wrong, err)
		}
		return false
	}
	v, err := Value(data)
	if err != nil {
		t.Fatalf("accepted %.200q, which is wrong: %s", data, err)
	}
	want, err := Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	if form, err := Canonical(data); err != nil || !bytes.Equal(form, want) {
		t.Fatalf("wrote %.200q in canonical form as %.200q (%v), not as %.200q", data, form, err, want)
	}
	holdObject(t, data)
	return true
}

// holdObject holds the members of an object to what encoding/json reads.
func holdObject(t *testing.T, data []byte) {
	t.Helper()
	got, err := Object(data)
	if KindOf(data) != "an object" {
		if err == nil {
			t.Fatalf("%.200q has members: %q", data, got)
		}
		return
	}
	want := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("the members of %.200q are %q (%v), not %q", data, got, err, want)
	}
	for key := range want {
		holdOpened(t, data, key, want)
	}
}

// holdOpened holds the members of an object, and those of one of them, to all of its members.
func holdOpened(t *testing.T, data []byte, key string, all map[string]json.RawMessage) {
	t.Helper()
	members, inside, err := OwnObjects(data, key)
	if err != nil {
		t.Fatalf("%.200q with %q open: %v", data, key, err)
	}
	if within, notOne := OwnObject(all[key]); key != "" && notOne == nil {
		if all = maps.Clone(all); !reflect.DeepEqual(inside, within) {
			t.Fatalf("%q of %.200q has the members %q, not %q", key, data, inside, within)
		}
		delete(all, key)
	} else if inside != nil {
		t.Fatalf("%q of %.200q has members, and is no object: %q", key, data, inside)
	}
	if !reflect.DeepEqual(members, all) {
		t.Fatalf("the members of %.200q beside %q are %q, not %q", data, key, members, all)
	}
}

func TestReaders_AgreeWithEncodingJSON(t *testing.T) {
	many := func(last string) string {
		var b strings.Builder
		for i := range 40 {
			fmt.Fprintf(&b, `"k%02d":%d,`, i, i)
		}
		return "{" + b.String() + `"` + last + `":1}`
	}
	for _, c := range []struct {
		text  string
		sound bool
	}{
		{`{}`, true},
		{`[]`, true},
		{`{"a":[1,-2.50,true,false,null,"x"],"b":{"c":""}}`, true},
		{` {"a" : [ 1 , 2 ] } `, true},
		{`{"b":1,"a":2}`, true},
		{`{"b":{"z":1},"c":{"a":1}}`, true},
		{`{"a":"line\n\"quoted\" back\\slash\ttab"}`, true},
		{`"\/\b\f"`, true},
		{`"\u0041\u2028\ufffd\u007f\u001f"`, true},
		{`"ä€😀�"`, true},
		{"\"\u2028\"", true},
		{"{\"\U0001f600\":1,\"\uff5e\":2,\"\\ue000\":3}", true}, // sorted by UTF-8, which is not the order of UTF-16
		{many("z"), true},
		{many("a"), true},
		{many("k17"), false},
		{`{"a":` + many("z") + `,"b":{"a":1,"c":` + many("z") + `}}`, true},
		{`{"a":` + many("z") + `,"b":{"c":1,"d":` + many("z") + `,"c":2}}`, false},
		{`{"a":` + strings.Replace(many("z"), ":17,", `:{"y":1,"y":2},`, 1) + `}`, false},
		{`{"a":1,"a":2}`, false},
		{`[{"a":1},{"a":2}]`, true},
		{`{"a":{"b":1},"b":2}`, true},
		{`{ "a" : { "a" : { "a" : 1 } } , "b" : [ {} ] , "c" : {} }`, true},
		{`{"a":{"b":1,"b":2}}`, false},
		{`{"a":{"b":1},"a":{"b":1}}`, false},
		{`"\ud800"`, false},
		{`"\ud83d\ude00"`, true},
		{`{"\ud83d\ude00":1,"\uffee":2}`, true},
		{`{"\uD83D\uDE00":1,"\uffee":2}`, true},
		{`{"\u0061":1}`, true},
		{`{"\u0061":1,"a":1}`, false},
		{`{"a[\"x\"]":1,"a[\"y\"]":{"b":1}}`, true},
		{`{"b":1,"a[\"y\"]":{"b\n":1,"b\t":2}}`, true},
		{`[1e3,-0,0.0,1E+400,2e-400]`, true},
		{`1e401`, false},
		{`01`, false},
		{`-`, false},
		{`1.`, false},
		{`.5`, false},
		{`+1`, false},
		{"\"\x01\"", false},
		{"\"\xff\"", false},
		{`"\x"`, false},
		{`"\u12"`, false},
		{`"open`, false},
		{`{"a" 1}`, false},
		{`{"a":1,}`, false},
		{`[1,]`, false},
		{`[1 2]`, false},
		{`{} {}`, false},
		{`nul`, false},
		{``, false},
		{strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth), true},
		{strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1), false},
		{strings.Repeat("1", MaxDigits), true},
		{strings.Repeat("1", MaxDigits+1), false},
		{"[-1." + strings.Repeat("1", MaxDigits-3) + "]", true},
		{"[-1." + strings.Repeat("1", MaxDigits-2) + "]", false},
		{"[" + strings.Repeat("1,", MaxNodes-2) + "1]", true},
		{"[" + strings.Repeat("1,", MaxNodes-1) + "1]", false},
	} {
		if sound := holdReaders(t, []byte(c.text)); sound != c.sound {
			t.Errorf("%.80q is taken: %t, want %t", c.text, sound, c.sound)
		}
	}
}

func TestCanonical_IsACopy(t *testing.T) {
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

func FuzzReaders(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-2.5e3,"x\n"],"b":{"c":null}}`, "\"\\u2028\u2028\"", `{"a":1,"a":2}`, ` [ true ,false]`, `"\ud83d\ude00"`, `-0`, `{"":0}`,
		"{\"\U0001f600\":1,\"\uff5e\":2}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { holdReaders(t, data) })
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
