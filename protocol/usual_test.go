package protocol

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// What is read by hand is read as encoding/json reads it, and what is not as
// usual is left to that.
func TestRequestsReadByHand(t *testing.T) {
	t.Parallel()
	for line, usual := range map[string]bool{
		`{"id":7,"args":["state"],"stdin":{"name":"a\"}]","config":{"x":[1,{"y":null}]}}}`: true,
		`{"id":9223372036854775807,"args":["create"],"stdin":{}}`:                          true,
		`{"id":9223372036854775808,"args":["create"],"stdin":{}}`:                          false,
		`{"id":07,"args":["state"],"stdin":{}}`:                                            false,
		`{"id":-7,"args":["state"],"stdin":{}}`:                                            false,
		`{"id":7,"args":["state"],"stdin":{},"cancel":true}`:                               false,
		`{"id":7,"args":["state"],"stdin":{}`:                                              false,
		`{"id":7,"args":["state"],"stdin":}`:                                               false,
		`{"id":7,"args":["state"],"stdin":{} }`:                                            true,
		`{"id":7,"args":["a","b"],"stdin":{}}`:                                             false,
		`{"id":7,"args":["a\u0041"],"stdin":{}}`:                                           false,
		`{"id":7,"cancel":true}`:                                                           false,
		`{"id":7,"args":["state"],"stdin":{"a":1}}{"id":8}`:                                false,
		`{"stdin":{},"id":7}`:                                                              false,
		``:                                                                                 false,
	} {
		got, ok := readRequest([]byte(line + "\n"))
		if ok != usual {
			t.Errorf("%s: %v", line, ok)
		}
		var want WorkerRequest
		if err := decode([]byte(line), &want, false); ok && (err != nil || got.ID != want.ID || !reflect.DeepEqual(got.Args, want.Args) || strings.TrimSpace(string(got.Stdin)) != string(want.Stdin)) {
			t.Errorf("%s: %+v, and not %+v (%v)", line, got, want, err)
		}
	}
}

// A reply written by hand says the same as one that encoding/json writes.
func TestRepliesWrittenByHand(t *testing.T) {
	t.Parallel()
	zero := 0
	for _, text := range []string{"", "plain", "{\"a\":\"b\\n\"}\n", "tab\t", "null\x00", "\x7f", "ä", "\xff", "<&>", "\u2028"} {
		for _, r := range []WorkerReply{{ID: 1, Stdout: text}, {ID: 1<<63 - 1, Stderr: text}, {ID: -3, Stdout: text, Stderr: text, Exit: &zero}} {
			line, err := appendReply([]byte("before"), r)
			want, _ := encode(r)
			var got, wanted WorkerReply
			if err != nil || json.Unmarshal(line[len("before"):], &got) != nil || json.Unmarshal(want, &wanted) != nil || !reflect.DeepEqual(got, wanted) {
				t.Errorf("%q: %s, and not %s (%v)", text, line, want, err)
			}
			if strings.Count(string(line), "\n") != 1 || !strings.HasSuffix(string(line), "\n") {
				t.Errorf("%q: no single line: %q", text, line)
			}
		}
	}
}

// agreeing has fields that encoding leaves out, and some that are not in its state.
type agreeing struct {
	A string         `json:"a"`
	B int            `json:"b,omitempty"`
	C map[string]any `json:"c,omitempty"`
	D []string       `json:"d"`
	E string         `json:"-"`
}

// What agrees at a glance has no differences when it is looked at closely.
func TestWhatAgreesAtAGlance(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	values := map[string][]string{"a": {`""`, `"x"`, `"q\"},{"`, `null`, `"x\u0079"`}, "b": {"0", "1", "1.0", "null", "12"}, "c": {"{}", `{"k":1}`, `{"k": 1}`, "null"},
		"d": {"[]", `["a"]`, `["a","b"]`, "null", `[ ]`}, "e": {`"x"`, `""`}, "A": {`"x"`}}
	object := func() json.RawMessage {
		var members []string
		for _, key := range []string{"a", "b", "c", "d", "e", "A"} {
			if list := values[key]; random.IntN(4) > 0 && key != "A" || random.IntN(20) == 0 {
				members = append(members, fmt.Sprintf("%q:%s", key, list[random.IntN(len(list))]))
			}
		}
		return json.RawMessage("{" + strings.Join(members, []string{",", ",", ",", ", "}[random.IntN(4)]) + "}")
	}
	agreed := 0
	for range 4000 {
		written, state := object(), object()
		var config agreeing
		if decode(written, &config, false) != nil {
			continue
		}
		full, err := encode(config)
		if err != nil {
			t.Fatal(err)
		}
		if random.IntN(3) == 0 {
			state = full
		}
		if !agree(written, full, state) {
			continue
		}
		agreed++
		same, err := differences[agreeing](written, full, state, reflect.TypeFor[agreeing]())
		if err != nil || len(same.reasons) > 0 {
			t.Fatalf("%s agrees with %s, and yet: %+v (%v)", written, state, same, err)
		}
	}
	if agreed < 50 {
		t.Errorf("only %d agreed", agreed)
	}
}
