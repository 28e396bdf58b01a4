package worker

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// A reply has its own keys, each once.
func TestDecode_RefusesUnknownAndRepeatedKeys(t *testing.T) {
	zero, two := 0, 2
	for _, c := range []struct {
		line string
		want protocol.WorkerReply
		bad  bool
	}{
		{`{"id":7,"stdout":"{\"status\":\"VALID\"}\n"}`, protocol.WorkerReply{ID: 7, Stdout: "{\"status\":\"VALID\"}\n"}, false},
		{` { "id" : 7 , "stderr" : "\u00e4\\\t" } `, protocol.WorkerReply{ID: 7, Stderr: "ä\\\t"}, false},
		{`{"exit":0,"id":1}`, protocol.WorkerReply{ID: 1, Exit: &zero}, false},
		{`{"id":1,"exit":2,"stdout":"x","stderr":"y"}`, protocol.WorkerReply{ID: 1, Exit: &two, Stdout: "x", Stderr: "y"}, false},
		{`{"id":1,"exit":null,"stdout":null}`, protocol.WorkerReply{ID: 1}, false},
		{`{"id":1.0}`, protocol.WorkerReply{}, true},
		{`{"id":"1"}`, protocol.WorkerReply{}, true},
		{`{"id":1,"stdout":["x"]}`, protocol.WorkerReply{}, true},
		{`{"id":1,"more":1}`, protocol.WorkerReply{}, true},
		{`{"id":1,"id":2}`, protocol.WorkerReply{}, true},
		{`[1]`, protocol.WorkerReply{}, true},
		{`{"id":1`, protocol.WorkerReply{}, true},
	} {
		var got protocol.WorkerReply
		err := jsondoc.Read([]byte(c.line), &got)
		if (err != nil) != c.bad || !c.bad && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s is read as %+v, %v", c.line, got, err)
		}
	}
}

// A request is one line.
func TestEncode_WritesOneLine(t *testing.T) {
	for _, c := range []struct {
		args  []string
		stdin string
		bad   bool
	}{
		{[]string{"state"}, "{\"name\":\"a\\n\"}\n", false},
		{[]string{"state", `with "quotes"`, "ä"}, "", false},
		{nil, "{\n  \"a\": 1\n}\n", false},
		{nil, `{"a":1,"a":2}`, false}, // wrong, but not for us to say
		{nil, `{"a":`, true},
		{nil, "a word", true},
	} {
		line, err := encode(3, runner.Spec{Args: c.args, Stdin: []byte(c.stdin)})
		if (err != nil) != c.bad {
			t.Errorf("%q: %v", c.stdin, err)
		}
		if err != nil {
			continue
		}
		want, err := json.Marshal(protocol.WorkerRequest{ID: 3, Args: c.args, Stdin: []byte(c.stdin), Waits: true})
		if err != nil || string(line) != string(want)+"\n" {
			t.Errorf("%q is written as %q, not as %q (%v)", c.stdin, line, want, err)
		}
	}
}

// The part of a line that is shown may end in the middle of a secret.
func TestCut_HidesSecretsFirst(t *testing.T) {
	const password = "a-password-of-some-length"
	w := &worker{o: Options{Hide: secret.NewHider([]string{password}).Hide}}
	for before := 150; before < 200; before++ {
		if got := w.cut([]byte(strings.Repeat("x", before) + password)); strings.Contains(got, password[:4]) {
			t.Fatalf("%d bytes before it: %s", before, got)
		}
	}
}
