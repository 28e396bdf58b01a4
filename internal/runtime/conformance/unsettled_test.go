package conformance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"testing"

	"deployster/internal/runtime/conformance"
	"deployster/internal/runtime/conformance/report"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/protocol"
)

// numbered is a type whose things get numbers, which it has to remember.
type numbered struct {
	lost   [2]string // how it answers for both intents when it may have made one, and knows no number
	things map[string]string
	made   int
}

func (n *numbered) run(_ context.Context, s runner.Spec, stdin io.Reader, stdout, _ io.Writer) int {
	var in protocol.ActionInput
	var number string
	if err := json.NewDecoder(stdin).Decode(&in); err != nil || in.Memory != nil && json.Unmarshal(in.Memory, &number) != nil {
		return 90
	}
	answer, text, absent, step := "", n.things[number], in.Intent == protocol.Absent, append(s.Args, "init")[0]
	switch {
	case step == "init":
		answer = `{"protocol":2,"absent":true,"memory":true,"state_action":{"args":["state"]}}`
	case step == "write":
		if number == "" {
			n.made++
			number = fmt.Sprint(n.made)
		}
		n.things[number] = string(in.Config)
		answer = fmt.Sprintf(`{"memory":%q}`, number)
	case step == "remove":
		delete(n.things, number)
		answer = `{"memory":null}`
	case number == "" && len(in.Unsettled) > 0 && absent:
		answer = n.lost[1]
	case number == "" && len(in.Unsettled) > 0:
		answer = n.lost[0]
	case absent && text == "":
		answer = `{"status":"MISSING"}`
	case absent:
		answer = `{"status":"STALE","staleState":{},"actions":[{"name":"remove","args":["remove"]}]}`
	case text == string(in.Config):
		answer = `{"status":"VALID","state":{}}`
	default:
		answer = `{"status":"STALE","actions":[{"name":"write","args":["write"]}]}`
	}
	_, _ = io.WriteString(stdout, answer)
	return 0
}

// What a type has created, and what was not heard of any more, it does not create a second time.
func TestChecks_Unsettled(t *testing.T) {
	t.Parallel()
	const (
		unknown = `{"error":{"class":"unsettled","message":"look for it"}}`
		found   = `{"status":"STALE","memory":"2","staleState":{},"actions":[{"name":"write","args":["write"]}]}`
	)
	for name, c := range map[string]struct {
		lost [2]string
		want report.Verdict
	}{
		"it says so":                          {[2]string{unknown, unknown}, report.Pass},
		"it is found":                         {[2]string{found, found}, report.Pass},
		"it is found and right":               {[2]string{`{"status":"VALID","state":{},"memory":"2"}`, unknown}, report.Pass},
		"it is made again":                    {[2]string{`{"status":"STALE","actions":[{"name":"write","args":["write"]}]}`, unknown}, report.Fail},
		"it is gone when it is not wanted":    {[2]string{unknown, `{"status":"MISSING"}`}, report.Fail},
		"an error that nobody would settle":   {[2]string{`{"error":{"class":"bug","message":"look for it"}}`, unknown}, report.Fail},
		"an answer that the protocol refuses": {[2]string{`{}`, unknown}, report.Fail},
	} {
		n, fake := &numbered{lost: c.lost, things: map[string]string{}}, runnertest.NewFake()
		fake.Add("acme/number", n.run)
		r, err := conformance.Run(t.Context(), conformance.Options{Runner: shortGrace{fake}, Launcher: fake, Image: "acme/number", Config: json.RawMessage(`{"a":1}`)})
		if err != nil || len(n.things) > 0 {
			t.Errorf("%s: %v, left: %v", name, err, n.things)
		}
		if got := find(t, r, "unsettled"); got.Verdict != c.want {
			t.Errorf("%s: %+v", name, got)
		}
		if failed := verdicts(r, report.Fail); len(failed) > 1 || len(failed) == 1 && !slices.Equal(failed, []string{"unsettled"}) {
			t.Errorf("%s: failed: %v", name, failed)
		}
	}
}
