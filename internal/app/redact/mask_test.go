package redact_test

import (
	"encoding/json"
	"strings"
	"testing"

	"deployster/config"
	"deployster/internal/app/redact"
	"deployster/plan"
	"deployster/plan/change"
	"deployster/plan/planfile"
	"deployster/plan/reason"
	"deployster/protocol"
)

// A key below a sensitive place may be made of a secret that nobody else knows.
func TestPlan_CutsPointersAtSensitivePlaces(t *testing.T) {
	t.Parallel()
	p := &plan.Plan{
		Resources: map[string]*plan.Step{"a": {
			Config: json.RawMessage(`{"open":{"$unknown":"timestamp()"},"x":{"2retnuh":{"$unknown":"timestamp()"},"b":1}}`), Unknown: map[string]string{"/open": "timestamp()", "/x/2retnuh": "timestamp()"}, Sensitive: []string{"/x"},
			MayChangeAt: []string{"/open", "/x/2retnuh"},
			Part:        &change.Create{Answer: change.Answer{Reasons: []protocol.Reason{{Path: "/x/2retnuh"}, {Path: "/open"}}}}}},
		Outputs: map[string]plan.Output{
			"hidden": {Value: json.RawMessage(`{"2retnuh":{"$unknown":"uuid()"},"b":{"$unknown":"timestamp()"}}`), Sensitive: true,
				Unknown: map[string]string{"/2retnuh": "uuid()", "/b": "timestamp()"}},
			"shown": {Value: json.RawMessage(`{"b":{"$unknown":"timestamp()"}}`), Unknown: map[string]string{"/b": "timestamp()"}},
		},
	}
	before, _ := json.Marshal(planfile.NewDocument(p))
	shown := new(redact.Redactor).Plan(p)
	a := shown.Resources["a"]
	for _, c := range []struct {
		got  any
		want string
	}{
		{a.Unknown, `{"/open":"timestamp()","/x":"timestamp()"}`},
		{a.MayChangeAt, `["/open","/x"]`},
		{[]string{a.Answer().Reasons[0].Path, a.Answer().Reasons[1].Path}, `["/x","/open"]`},
		{shown.Outputs["hidden"].Unknown, `{"":"uuid()"}`},
		{shown.Outputs["shown"].Unknown, `{"/b":"timestamp()"}`},
	} {
		if got, _ := json.Marshal(c.got); string(got) != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	if after, _ := json.Marshal(planfile.NewDocument(p)); string(after) != string(before) {
		t.Errorf("the plan itself became %s", after)
	}
}

func TestPlan_SpellsReasonsWithoutSecrets(t *testing.T) {
	t.Parallel()
	secrets := new(redact.Redactor)
	secrets.Add([]string{"plum-canary"})
	p := &plan.Plan{Resources: map[string]*plan.Step{"a": {Reason: reason.New(reason.NotCreated, `x["plum-canary"]`),
		Notes: []*reason.Reason{reason.New(reason.MayStay)}, Part: &change.Deferred{}}}}
	a := secrets.Plan(p).Resources["a"]
	if want := `resource.x["(sensitive value)"] does not exist yet`; a.Reason.Text != want || a.Notes[0].Text == "" {
		t.Errorf("got %q, want %q; note %q", a.Reason.Text, want, a.Notes[0].Text)
	}
	if kept := p.Resources["a"]; kept.Reason.Text+kept.Notes[0].Text != "" {
		t.Errorf("the plan itself has the words %q", kept.Reason.Text)
	}
}

// The schema of the states marks a value that no document of the step has.
func TestStep_HidesValuesOfReasonsThatNoStateHas(t *testing.T) {
	t.Parallel()
	step := &plan.Step{Config: []byte(`{"name":"db"}`), Init: protocol.Type{StateSchema: []byte(
		`{"properties":{"users":{"type":"array","items":{"properties":{"password":{"writeOnly":true}}}}}}`)},
		Part: &change.Update{Answer: change.Answer{Reasons: []protocol.Reason{
			{Path: "/users/3/password", Have: []byte(`"old-secret"`), Want: []byte(`"new-secret"`)}, {Path: "/name", Have: []byte(`"web"`)}}}}}
	got := (&redact.Redactor{}).Step(step).Answer().Reasons
	if text := string(got[0].Have) + string(got[0].Want); strings.Contains(text, "-secret") {
		t.Errorf("the reason shows %s", text)
	}
	if string(got[1].Have) != `"web"` {
		t.Errorf("an ordinary value is shown as %s", got[1].Have)
	}
}

// The sensitive outputs of other states are in a plan, and never shown.
func TestPlan_HidesOutputsOfOthers(t *testing.T) {
	t.Parallel()
	p := &plan.Plan{Remote: map[string]config.RemoteState{"net": {Serial: 3, Outputs: map[string]config.RemoteOutput{
		"token": {Value: json.RawMessage(`"hunter2"`), Sensitive: true}, "vpc": {Value: json.RawMessage(`"v-1"`)}}}}}
	shown := new(redact.Redactor).Plan(p).Remote["net"]
	if strings.Contains(string(shown.Outputs["token"].Value), "hunter2") || string(shown.Outputs["vpc"].Value) != `"v-1"` || shown.Serial != 3 {
		t.Errorf("%+v", shown)
	}
	if string(p.Remote["net"].Outputs["token"].Value) != `"hunter2"` {
		t.Error("the plan itself has changed")
	}
}
