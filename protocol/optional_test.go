package protocol_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"deployster/protocol"
)

type serviceConfig struct {
	Name   string            `json:"name" deployster:"identity"`
	Tier   *string           `json:"tier,omitempty"`
	Env    map[string]string `json:"env,omitempty"`
	Zone   string            `json:"zone,omitempty" deployster:"computed"`
	Limits *serviceLimits    `json:"limits,omitempty"`
	Secret *string           `json:"secret,omitempty" writeOnly:"true"`
	Users  []serviceUser     `json:"users,omitempty"`
}

type serviceLimits struct {
	CPU    int    `json:"cpu"`
	Memory string `json:"memory,omitempty"`
}

type serviceUser struct {
	Login    string `json:"login"`
	Password string `json:"password" writeOnly:"true"`
}

type serviceState struct {
	Tier   string            `json:"tier,omitempty"`
	Env    map[string]string `json:"env"`
	Zone   string            `json:"zone"`
	Limits *serviceLimits    `json:"limits"`
	URL    string            `json:"url"`
}

// service is one thing that is always there.
type service struct{ have serviceState }

func (s service) Read(context.Context, *protocol.Call[serviceConfig, serviceState]) (*serviceState, error) {
	return &s.have, nil
}
func (service) Write(context.Context, *protocol.Call[serviceConfig, serviceState]) error { return nil }
func (service) Delete(context.Context, *protocol.Call[serviceConfig, serviceState]) error {
	return nil
}

// answered asks a type for its state.
func answered[C, S any](t *testing.T, r protocol.Resource[C, S], config string, more ...string) protocol.StateAnswer {
	t.Helper()
	code, stdout, stderr := ask(t, r, protocol.About{}, input(config, more...), "state")
	var a protocol.StateAnswer
	if err := json.Unmarshal([]byte(stdout), &a); code != 0 || err != nil || a.Error != nil {
		t.Fatalf("%s: %d %s%s %v", config, code, stdout, stderr, err)
	}
	return a
}

func paths(reasons []protocol.Reason) string {
	var all []string
	for _, r := range reasons {
		all = append(all, r.Path)
	}
	return strings.Join(all, " ")
}

// What a config may hold and does not hold must be unset.
func TestCompare_LeftOut(t *testing.T) {
	t.Parallel()
	full := service{serviceState{Tier: "gold", Env: map[string]string{"A": "1", "B": ""}, Zone: "eu", Limits: &serviceLimits{CPU: 2, Memory: "1g"}, URL: "http://x"}}
	const limits = `,"limits":{"cpu":2,"memory":"1g"}`
	for config, stale := range map[string]string{
		`{"name":"x","tier":"gold","env":{"A":"1","B":""}` + limits + `}`:             "",
		`{"name":"x","tier":"gold","env":{"A":"1","B":""},"zone":"eu"` + limits + `}`: "",
		`{"name":"x","tier":"gold","env":{"A":"1","B":""},"zone":"us"` + limits + `}`: "/zone",
		`{"name":"x","env":{"A":"1","B":""}` + limits + `}`:                           "/tier",
		`{"name":"x","tier":null,"env":{"A":"1","B":""}` + limits + `}`:               "/tier",
		`{"name":"x","tier":"gold"` + limits + `}`:                                    "/env",
		`{"name":"x","tier":"gold","env":{"A":"1"}` + limits + `}`:                    "/env",
		`{"name":"x","tier":"gold","env":{"A":"1","B":"","C":""}` + limits + `}`:      "/env",
		`{"name":"x","tier":"gold","env":{"A":"1","B":""},"limits":{"cpu":2}}`:        "/limits",
		`{"name":"x","tier":"gold","env":{"A":"1","B":""}}`:                           "/limits",
		`{"name":"x"}`: "/env /limits /tier",
	} {
		if a := answered(t, full, config); paths(a.Reasons) != stale || (a.Status == protocol.Valid) != (stale == "") {
			t.Errorf("%s: %s because of %q, want %q", config, a.Status, paths(a.Reasons), stale)
		}
	}
	if a := answered(t, service{}, `{"name":"x"}`); a.Status != protocol.Valid {
		t.Errorf("nothing is set, and nothing is there: %+v", a)
	}
	a := answered(t, full, `{"name":"x"`+limits+`}`)
	if got, want := a.Unknown, []string{"/env", "/tier"}; !slices.Equal(got, want) || strings.Contains(string(a.Forecast), "tier") {
		t.Errorf("what will be unset: unknown %q, forecast %s", got, a.Forecast)
	}
	if want := `"gold"`; string(a.Reasons[1].Have) != want || len(a.Reasons[1].Want) > 0 {
		t.Errorf("the reason is %+v", a.Reasons[1])
	}
}

// fingerprints gives what a state says of the secrets.
func fingerprints(t *testing.T, state json.RawMessage) map[string]string {
	t.Helper()
	var s struct {
		Fingerprints map[string]string `json:"secret_fingerprints"`
	}
	if err := json.Unmarshal(state, &s); err != nil {
		t.Fatal(err)
	}
	return s.Fingerprints
}

// Another secret is STALE until actions were run with it.
func TestSecrets_Life(t *testing.T) {
	t.Parallel()
	s := service{}
	const one, two = `{"name":"x","secret":"plum"}`, `{"name":"x","secret":"pear"}`
	created := answered(t, s, one)
	if again := answered(t, s, one); created.Status != protocol.Valid || string(created.State) != string(again.State) {
		t.Errorf("the same question: %s and %s", created.State, again.State)
	}
	if prints := fingerprints(t, created.State); len(prints) != 1 || len(prints["/secret"]) != 32+1+64 || strings.Contains(string(created.State), "plum") {
		t.Fatalf("%s", created.State)
	}
	last := func(a protocol.StateAnswer) string { return `,"last_state":` + string(a.State) }
	if a := answered(t, s, one, last(created)); string(a.State) != string(created.State) {
		t.Errorf("nothing has changed: %+v", a)
	}
	a := answered(t, s, two, last(created))
	if a.Status != protocol.Stale || paths(a.Reasons) != "/secret" || a.Reasons[0].Message != "the secret at /secret has changed" || a.Actions[0].Name != "update" {
		t.Errorf("another secret: %+v", a)
	}
	if string(a.StaleState) != string(created.State) || !slices.Equal(a.Unknown, []string{"/secret_fingerprints"}) {
		t.Errorf("before the update it is %s, and unknown is %q", a.StaleState, a.Unknown)
	}
	updated := answered(t, s, two, last(created), `,"after":["update"]`)
	if updated.Status != protocol.Valid || maps.Equal(fingerprints(t, updated.State), fingerprints(t, created.State)) {
		t.Errorf("after the update: %+v", updated)
	}
	if a := answered(t, s, two, last(updated)); a.Status != protocol.Valid || string(a.State) != string(updated.State) {
		t.Errorf("asked again: %+v", a)
	}
	a = answered(t, s, `{"name":"x"}`, last(updated))
	if a.Status != protocol.Stale || a.Reasons[0].Message != "the secret at /secret is to be removed" {
		t.Errorf("without a secret: %+v", a)
	}
	if a = answered(t, s, `{"name":"x"}`, last(updated), `,"after":["update"]`); a.Status != protocol.Valid || fingerprints(t, a.State) != nil {
		t.Errorf("removed: %+v", a)
	}
	if a = answered(t, s, one, last(a)); a.Status != protocol.Stale {
		t.Errorf("a first secret: %+v", a)
	}
	if a = answered(t, s, one, `,"last_state":{}`); a.Status != protocol.Stale {
		t.Errorf("a first secret, and a state that was empty: %+v", a)
	}
	if a = answered(t, s, one, last(updated), `,"intent":"absent"`); string(a.StaleState) != string(updated.State) {
		t.Errorf("to be removed it is %s", a.StaleState)
	}
}

// A salt is of one secret of one thing, and stays.
func TestSecrets_Salt(t *testing.T) {
	t.Parallel()
	s := service{}
	prints := func(config string, more ...string) map[string]string {
		return fingerprints(t, answered(t, s, config, more...).State)
	}
	all := prints(`{"name":"x","secret":"same","users":[{"login":"a","password":"same"},{"login":"b","password":"same"}]}`)
	all["other"] = prints(`{"name":"y","secret":"same"}`)["/secret"]
	salts := map[string]bool{}
	for _, text := range all {
		salt, _, _ := strings.Cut(text, ":")
		salts[salt] = true
	}
	if got := slices.Sorted(maps.Keys(all)); !slices.Equal(got, []string{"/secret", "/users/0/password", "/users/1/password", "other"}) || len(salts) != 4 {
		t.Errorf("%q", all)
	}
	s.have.Zone = "eu"
	was := answered(t, s, `{"name":"x","secret":"same"}`)
	now := answered(t, s, `{"name":"x","zone":"eu","secret":"same"}`, `,"last_state":`+string(was.State))
	if now.Status != protocol.Valid || string(now.State) != string(was.State) {
		t.Errorf("the salt stays when the rest of the config changes: %+v, was %+v", now, was)
	}
}

// known has its secret in its state, where it is compared as any value is.
type known struct{ there map[string]string }

type knownConfig struct {
	Key string `json:"key" writeOnly:"true"`
}

func (k known) Read(context.Context, *protocol.Call[knownConfig, knownConfig]) (*knownConfig, error) {
	return &knownConfig{Key: k.there["key"]}, nil
}
func (known) Write(context.Context, *protocol.Call[knownConfig, knownConfig]) error { return nil }

func TestSecrets_InTheState(t *testing.T) {
	t.Parallel()
	k := known{map[string]string{"key": "plum"}}
	if a := answered(t, k, `{"key":"plum"}`); string(a.State) != `{"key":"plum"}` {
		t.Errorf("%+v", a)
	}
	a := answered(t, k, `{"key":"pear"}`, `,"after":["update"]`)
	if a.Status != protocol.Stale || paths(a.Reasons) != "/key" || a.Reasons[0].Have != nil || a.Reasons[0].Want != nil {
		t.Errorf("%+v", a)
	}
}

// choosy decides itself, and is told which secrets have changed.
type choosy struct{ service }

func (choosy) Plan(_ context.Context, c *protocol.Call[serviceConfig, serviceState], _ *serviceState) (*protocol.Plan, error) {
	if len(c.ChangedSecrets) == 0 {
		return nil, nil
	}
	return &protocol.Plan{Actions: []protocol.Action{{Name: "rotate", Description: strings.Join(c.ChangedSecrets, " ")}}}, nil
}

func TestSecrets_Planner(t *testing.T) {
	t.Parallel()
	was := answered(t, choosy{}, `{"name":"x","secret":"plum"}`)
	last := `,"last_state":` + string(was.State)
	if a := answered(t, choosy{}, `{"name":"x","secret":"pear"}`, last); len(a.Actions) != 1 || a.Actions[0].Description != "/secret" {
		t.Errorf("%+v", a)
	}
	if a := answered(t, choosy{}, `{"name":"x","secret":"pear"}`, last, `,"after":["rotate"]`); a.Status != protocol.Valid {
		t.Errorf("%+v", a)
	}
}
