package jsondiff

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// shown writes a difference as a reader sees it, without the renderer's padding.
func shown(d Diff) string {
	var b strings.Builder
	for _, r := range d.Rows {
		switch {
		case len(r.Lines) > 0:
			fmt.Fprintf(&b, "%c %s:\n", r.Op, r.Path)
			for _, l := range r.Lines {
				fmt.Fprintf(&b, "  %c %s\n", l.Op, l.Text)
			}
		case r.Have != "" && r.Want != "":
			fmt.Fprintf(&b, "%c %s = %s -> %s\n", r.Op, r.Path, r.Have, r.Want)
		default:
			fmt.Fprintf(&b, "%c %s = %s%s\n", r.Op, r.Path, r.Have, r.Want)
		}
	}
	if d.More > 0 {
		fmt.Fprintf(&b, "%d more\n", d.More)
	}
	fmt.Fprintf(&b, "%d unchanged", d.Unchanged)
	return b.String()
}

func numbers(n int, but map[int]string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("element number %d", i)
		if other, ok := but[i]; ok {
			list[i] = other
		}
	}
	raw, _ := json.Marshal(list)
	return string(raw)
}

func TestCompare_ShowsEachChangedLine(t *testing.T) {
	for name, c := range map[string]struct {
		have, want string
		o          Options
		sensitive  []string
		unknown    map[string]string
		shown      string
	}{
		"scalars": {have: `{"size":5,"zone":"a","id":"x"}`, want: `{"size":10,"zone":"a","password":"p"}`,
			shown: "~ size = 5 -> 10\n1 unchanged"},
		"missing and extra": {have: `{"id":"x"}`, want: `{"size":1}`, o: Options{Missing: true, Extra: true},
			shown: "+ size = 1\n- id = \"x\"\n0 unchanged"},
		"maps by key": {have: `{"tags":{"a":1,"b":2,"gone":3}}`, want: `{"tags":{"b":3,"a":1,"new":4}}`,
			shown: "~ tags.b = 2 -> 3\n+ tags.new = 4\n1 unchanged"},
		"only something extra": {have: `{"id":"x","tags":{"a":1,"gone":3}}`, want: `{"tags":{"a":1}}`,
			shown: "- tags.gone = 3\n1 unchanged"},
		"short lists": {have: `{"l":[1,2]}`, want: `{"l":[1,3]}`, shown: "~ l = [1, 2] -> [1, 3]\n0 unchanged"},
		"order": {have: `{"l":["a","b"]}`, want: `{"l":["b","a"]}`,
			shown: "~ l:\n  @ (the same elements in another order)\n0 unchanged"},
		"long lists": {have: `{"l":` + numbers(12, nil) + `}`, want: `{"l":` + numbers(12, map[int]string{6: "other"}) + `}`,
			shown: "~ l:\n  @ (4 unchanged elements)\n    \"element number 4\"\n    \"element number 5\"\n  - \"element number 6\"\n  + \"other\"\n" +
				"    \"element number 7\"\n    \"element number 8\"\n  @ (3 unchanged elements)\n0 unchanged"},
		"named elements": {have: `{"rules":[{"name":"a","port":1},{"name":"old","port":9},{"name":"b","port":2}]}`, want: `{"rules":[{"name":"b","port":3},{"name":"a","port":1},{"name":"new","port":4}]}`,
			shown: "~ rules[\"b\"].port = 2 -> 3\n+ rules[\"new\"] = {\n          name = \"new\"\n          port = 4\n        }\n- rules[\"old\"] = {\n          name = \"old\"\n          port = 9\n        }\n2 unchanged"},
		"objects in place": {have: `{"rules":[{"port":1,"comment":"a rather long comment that fills the line"},{"port":2,"comment":"a rather long comment that fills the line"}]}`,
			want:  `{"rules":[{"port":1,"comment":"a rather long comment that fills the line"},{"port":3,"comment":"a rather long comment that fills the line"}]}`,
			shown: "~ rules[1].port = 2 -> 3\n1 unchanged"},
		"lines": {have: `{"text":"a\nb\nc\nd\ne\nf\n"}`, want: `{"text":"a\nb\nc\nD\ne\nf"}`,
			shown: "~ text:\n  @ (1 unchanged line)\n    b\n    c\n  - d\n  + D\n    e\n  - f\n  + f  (no newline at its end)\n0 unchanged"},
		"long line": {have: `{"t":"` + strings.Repeat("x", 500) + "A" + strings.Repeat("y", 500) + `"}`, want: `{"t":"` + strings.Repeat("x", 500) + "B" + strings.Repeat("y", 500) + `"}`,
			shown: `~ t = ..."` + strings.Repeat("x", 30) + "A" + strings.Repeat("y", 30) + `"... (1,001 bytes in all) -> ..."` + strings.Repeat("x", 30) + "B" + strings.Repeat("y", 30) + "\"... (1,001 bytes in all)\n0 unchanged"},
		"JSON in a text": {have: `{"policy":"{\"a\":[1],\"b\":2}"}`, want: `{"policy":"{\"b\": 3, \"a\": [1]}"}`,
			shown: "~ jsondecode(policy).b = 2 -> 3\n0 unchanged"},
		"sensitive": {have: `{"p":"old","q":"same","db":{"pass":"x"}}`, want: `{"p":"new","q":"same","db":{"pass":"y"}}`, sensitive: []string{"/p", "/q", "/db/pass"},
			shown: "~ db.pass = (sensitive value) -> (sensitive value)\n~ p = (sensitive value) -> (sensitive value)\n1 unchanged"},
		"unknown": {have: `{"ip":"1.2.3.4","l":["a"]}`, want: `{"ip":{"$unknown":"r"},"l":["a"],"other":{"$unknown":"r"}}`, unknown: map[string]string{"/ip": "r", "/other": "r"},
			shown: "~ ip = \"1.2.3.4\" -> (known after apply)\n+ other = (known after apply)\n1 unchanged"},
		"a secret nobody marked": {have: `{"a":"x"}`, want: `{"a":"token s3cret"}`, o: Options{Hide: func(s string) string { return strings.ReplaceAll(s, "s3cret", "***") }},
			shown: "~ a = \"x\" -> \"token ***\"\n0 unchanged"},
		"another type": {have: `{"a":[1]}`, want: `{"a":{"b":1}}`, shown: "~ a = [1] -> {\n          b = 1\n        }\n0 unchanged"},
		"unreadable":   {have: `{`, want: `{}`, shown: "0 unchanged"},
		"hostile":      {have: `{"a":"x"}`, want: "{\"a\":\"\\u001b[31m\\u202e\"}", shown: "~ a = \"x\" -> \"\\x1b[31m\\u202e\"\n0 unchanged"},
	} {
		t.Run(name, func(t *testing.T) {
			d := Compare(Value{JSON: json.RawMessage(c.have), Sensitive: c.sensitive}, Value{JSON: json.RawMessage(c.want), Sensitive: c.sensitive, Unknown: c.unknown}, c.o)
			if got := shown(d); got != c.shown {
				t.Errorf("shown:\n%s\nwant:\n%s", got, c.shown)
			}
		})
	}
}

// Whatever the size of a value: what is shown of it is bounded, and found soon.
func TestCompare_IsBounded(t *testing.T) {
	big := func(seed uint64) string {
		r := rand.New(rand.NewPCG(seed, 1))
		var b strings.Builder
		for b.Len() < 1<<20 {
			fmt.Fprintf(&b, "line %d of some text\n", r.IntN(1000))
		}
		return b.String()
	}
	encode := func(v any) Value {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return Value{JSON: raw}
	}
	wide := func(seed int) any {
		m := map[string]any{}
		for i := range 20_000 {
			m[fmt.Sprintf("key %d", i)] = map[string]any{"v": i * seed, "list": []int{i, seed, i + seed}}
		}
		return m
	}
	list := func(seed int) any {
		l := make([]any, 20_000)
		for i := range l {
			l[i] = fmt.Sprintf("%d of a list", i*seed%14_000)
		}
		return l
	}
	for name, c := range map[string]struct{ have, want any }{
		"text":  {map[string]any{"t": big(1)}, map[string]any{"t": big(2)}},
		"line":  {map[string]any{"t": strings.Repeat("a", 1<<20)}, map[string]any{"t": strings.Repeat("b", 3<<20)}},
		"keys":  {wide(1), wide(2)},
		"list":  {map[string]any{"l": list(1)}, map[string]any{"l": list(3)}},
		"other": {map[string]any{"l": list(1)}, map[string]any{"l": wide(3)}},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			text := shown(Compare(encode(c.have), encode(c.want), Options{}))
			text += shown(List(encode(c.want), Options{})) + Text(encode(c.want), 2, nil)
			if len(text) > 200_000 || strings.Count(text, "\n") > 700 {
				t.Errorf("%d bytes, %d lines", len(text), strings.Count(text, "\n"))
			}
			t.Logf("%d bytes in %v", len(text), time.Since(start))
		})
	}
}

func TestText_MasksAndShortens(t *testing.T) {
	v := Value{JSON: json.RawMessage(`{"a":"x","b c":[1,true,null],"empty":{},"list":[],"deep":{"secret":"s","later":{"$unknown":"r"}}}`),
		Sensitive: []string{"/deep/secret"}, Unknown: map[string]string{"/deep/later": "r"}}
	want := "{\n    a     = \"x\"\n    \"b c\" = [1, true, null]\n    deep  = {\n      later  = (known after apply)\n      secret = (sensitive value)\n    }\n    empty = {}\n    list  = []\n  }"
	if got := Text(v, 2, nil); got != want {
		t.Errorf("text:\n%s\nwant:\n%s", got, want)
	}
	long := Value{JSON: json.RawMessage(`"` + strings.Repeat("é", 3000) + `"`)}
	if got := Text(long, 0, nil); got != `"`+strings.Repeat("é", 250)+`"... (6,000 bytes in all)` {
		t.Errorf("a long text is shown as %s", got)
	}
	if got := TextWithin(long, 0, -1, nil); len(got) != 6002 {
		t.Errorf("without a limit %d bytes are shown", len(got))
	}
	if got := Path("/rules/0/a~1b/port"); got != `rules[0]."a/b".port` {
		t.Errorf("path %s", got)
	}
}
