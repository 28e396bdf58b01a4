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
	if o.kind == "secret" {
		_, _ = io.WriteString(stdout, o.secret(stderr))
	}
	if o.kind == "policy" {
		_, _ = io.WriteString(stdout, `{"results":[]}`)
	}
	return 0
}

// secret prints a secret, wrongly where that is the fault.
func (o *other) secret(stderr io.Writer) string {
	version := "1"
	switch o.fault {
	case "has no value":
		return `{"value":1,"extra":"canary-77"}`
	case "is text":
		return "canary-77"
	case "logs it":
		_, _ = io.WriteString(stderr, "read canary-77")
	case "changes the version":
		version = fmt.Sprint(o.asked)
	case "keeps the version":
		return fmt.Sprintf(`{"value":"canary-%d","version":"1"}`, 76+o.asked)
	case "forgets the version":
		if o.asked > 1 {
			return `{"value":"canary-77"}`
		}
	case "has expired":
		return `{"value":"canary-77","expires":"2020-01-02T03:04:05Z"}`
	case "is a lease":
		return fmt.Sprintf(`{"value":"canary-%d","expires":"2120-01-02T03:04:05Z"}`, 76+o.asked)
	}
	return fmt.Sprintf(`{"value":"canary-77","version":%q}`, version)
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
		{"secret", "", "", ""},
		{"secret", "prints its token", "secrets", "config/token was printed on stderr"},
		{"secret", "has no value", "secret", `"value" is a number`},
		{"secret", "is text", "secret", "is not shown"},
		{"secret", "logs it", "secret", "printed on stderr"},
		{"secret", "changes the version", "secret", "report a rotation"},
		{"secret", "keeps the version", "secret", "would not be noticed"},
		{"secret", "forgets the version", "secret", "another one did not"},
		{"secret", "has expired", "secret", "has expired when it is printed"},
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
			text, _ := json.Marshal(r)
			if strings.Contains(string(text), "canary-7") {
				t.Errorf("a value is shown: %s", text)
			}
			if c.failed != "" && !strings.Contains(find(t, r, c.failed).Reason, c.reason) {
				t.Errorf("the reason is %q", find(t, r, c.failed).Reason)
			}
		})
	}
}

// An image whose value differs each time is one of leases, which the test reports.
func TestRun_Leases(t *testing.T) {
	t.Parallel()
	fake := runnertest.NewFake()
	fake.Add("acme/other", (&other{kind: "secret", fault: "is a lease"}).run)
	r, err := conformance.Run(t.Context(), conformance.Options{Runner: shortGrace{fake}, Image: "acme/other",
		Config: json.RawMessage(`{"to":"ops"}`)})
	if err != nil || r.Failed > 0 || !strings.Contains(find(t, r, "secret").Reason, "compare = false") {
		t.Errorf("%v, %+v", err, r.Checks)
	}
}
