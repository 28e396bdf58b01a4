package protocol

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// bundle is a type whose objects bring a directory for each count, before they exist too.
type bundle struct{ there bool }

type bundleConfig struct {
	Name  string `json:"name" deployster:"identity"`
	Count int    `json:"count"`
}

type bundleState struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

func (b bundle) Read(_ context.Context, c *Call[bundleConfig, bundleState]) (*bundleState, error) {
	if !b.there {
		return nil, nil
	}
	return &bundleState{c.Config.Name, c.Config.Count}, nil
}

func (bundle) Write(context.Context, *Call[bundleConfig, bundleState]) error { return nil }

func (bundle) Delete(context.Context, *Call[bundleConfig, bundleState]) error { return nil }

func (bundle) Provides(_ context.Context, c *Call[bundleConfig, bundleState], have *bundleState) ([]Provided, error) {
	if c.Config.Name == "broken" {
		return nil, Errorf(TransientError, "", "no list")
	}
	kind := "directory"
	if have == nil {
		kind = "candidate"
	}
	return slices.Repeat([]Provided{{Kind: kind, ID: "/etc/" + c.Config.Name}}, c.Config.Count), nil
}

// What a type provides is in its answers about what is declared, up to the limit.
func TestProvides_IsAnswered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		there  bool
		intent Intent
		config string
		want   int
		kind   string
	}{
		"VALID":          {true, Present, `{"name":"a","count":2}`, 2, "directory"},
		"it is missing":  {false, Present, `{"name":"a","count":1}`, 1, "candidate"},
		"more than most": {true, Present, `{"name":"a","count":2001}`, MaxProvides, "directory"},
		"none":           {true, Present, `{"name":"a","count":0}`, 0, ""},
		"absent":         {true, Absent, `{"name":"a","count":1}`, 0, ""},
	} {
		var out strings.Builder
		in := strings.NewReader(`{"name":"x","type":"t","config":` + c.config + `,"intent":"` + string(c.intent) + `"}`)
		code := Run(t.Context(), bundle{c.there}, About{}, Process{Args: []string{"state"}, Stdin: in, Stdout: &out, Stderr: &strings.Builder{}})
		var answer StateAnswer
		if err := json.Unmarshal([]byte(out.String()), &answer); err != nil || code != 0 {
			t.Fatalf("%s: exit %d: %s", name, code, out.String())
		}
		if len(answer.Provides) != c.want || c.want > 0 && answer.Provides[0] != (Provided{c.kind, "/etc/a"}) {
			t.Errorf("%s: it provides %d", name, len(answer.Provides))
		}
	}
	var out strings.Builder
	Run(t.Context(), bundle{true}, About{}, Process{Args: []string{"state"}, Stdin: strings.NewReader(`{"config":{"name":"broken"}}`), Stdout: &out})
	if got := strings.TrimSpace(out.String()); got != `{"error":{"class":"transient","message":"no list"}}` {
		t.Errorf("a list that cannot be read is %s", got)
	}
}
