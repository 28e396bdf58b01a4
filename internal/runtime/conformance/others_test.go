package conformance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"deployster/internal/runtime/conformance"
	"deployster/internal/runtime/conformance/report"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
)

// other is an image that is not a resource type, with a fault.
type other struct {
	kind, fault string
	asked       int
}

const otherInit = `{"protocol":2,"label":"Other","config_schema":{"type":"object","additionalProperties":false,"properties":{
 "to":{"type":"string"},"token":{"type":"string","writeOnly":true}}},"%s":{"args":["run"]}}`

func (o *other) run(_ context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
	var in struct {
		Config struct{ To, Token string }
		Event  struct{ Type string }
	}
	if json.NewDecoder(stdin).Decode(&in) != nil {
		return 90
	}
	if len(s.Args) == 0 || s.Args[0] != "run" {
		_, _ = fmt.Fprintf(stdout, otherInit, o.kind)
		return 0
	}
	switch o.asked++; {
	case o.fault == "prints its token":
		_, _ = io.WriteString(stderr, "sent with "+in.Config.Token)
	case o.fault == "fails at events that it does not know" && in.Event.Type != "report":
		_, _ = io.WriteString(stderr, "what is "+in.Event.Type)
		return 1
	case o.fault == "counts":
		_, _ = fmt.Fprintf(stdout, `{"results":[{"severity":"info","message":"%d"}]}`, o.asked)
		return 0
	}
	if o.kind == "policy" {
		_, _ = io.WriteString(stdout, `{"results":[]}`)
	}
	return 0
}

// Policies and images that send notifications are tested without a state, and nothing is left.
func TestRun_OtherThanTypes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, fault, failed, reason string }{
		{"policy", "", "", ""},
		{"policy", "counts", "policy", "differently"},
		{"policy", "prints its token", "secrets", "config/token was printed on stderr"},
		{"notify", "", "", ""},
		{"notify", "fails at events that it does not know", "notify", "deployster_no_such_event"},
		{"notify", "prints its token", "secrets", "config/token was printed on stderr"},
	} {
		t.Run(c.kind+" "+c.fault, func(t *testing.T) {
			t.Parallel()
			fake := runnertest.NewFake()
			fake.Add("acme/other", (&other{kind: c.kind, fault: c.fault}).run)
			r, err := conformance.Run(t.Context(), conformance.Options{Runner: shortGrace{fake}, Image: "acme/other",
				Config: json.RawMessage(`{"to":"ops","token":"hunter22222"}`)})
			failed := verdicts(r, report.Fail)
			if err != nil || r.LeftBehind || !slices.Equal(failed, strings.Fields(c.failed)) {
				t.Fatalf("error %v, left %t, failed: %q, expected: %q", err, r.LeftBehind, failed, c.failed)
			}
			if passed := verdicts(r, report.Pass); c.fault == "" && !slices.Contains(passed, c.kind) || slices.Contains(passed, "state") {
				t.Errorf("passed: %q", passed)
			}
			if c.failed != "" && !strings.Contains(find(t, r, c.failed).Reason, c.reason) {
				t.Errorf("the reason is %q", find(t, r, c.failed).Reason)
			}
		})
	}
}
