package protocol_test

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"

	"deployster/protocol"
)

type base struct {
	ID string `json:"id"`
}

type inner struct {
	Port uint16  `json:"port" default:"80"`
	Host *string `json:"host"`
}

func TestSchema_FollowsTheStruct(t *testing.T) {
	t.Parallel()
	type config struct {
		base
		Plain   string
		hidden  int
		Skipped int              `json:"-"`
		Small   int8             `json:"small" maximum:"9"`
		Real    float32          `json:"real"`
		Exact   json.Number      `json:"exact"`
		Any     any              `json:"any"`
		Raw     json.RawMessage  `json:"raw,omitempty"`
		When    time.Time        `json:"when"`
		Addr    netip.Addr       `json:"addr" format:"ipv4"`
		Blob    []byte           `json:"blob,omitempty"`
		Words   []string         `json:"words" minItems:"1" pattern:"^a"`
		Pair    [2]bool          `json:"pair"`
		Map     map[string]inner `json:"map"`
		Inner   inner            `json:"inner"`
		Quoted  int              `json:"quoted,string"`
		Mode    string           `json:"mode" enum:"a,b" default:"a" minLength:"1"`
		List    []int            `json:"list" enum:"1,2" default:"[1]"`
	}
	_ = config{}.hidden
	got, err := protocol.SchemaOf[config]()
	want := `{"additionalProperties":false,"properties":{"Plain":{"type":"string"},"addr":{"format":"ipv4","type":"string"},"any":{},"blob":{"contentEncoding":"base64","type":"string"},` +
		`"exact":{"type":"number"},"id":{"type":"string"},"inner":{"additionalProperties":false,"properties":{"host":{"type":"string"},"port":{"default":80,"maximum":65535,"minimum":0,"type":"integer"}},"type":"object"},` +
		`"list":{"default":[1],"items":{"enum":[1,2],"type":"integer"},"type":"array"},` +
		`"map":{"additionalProperties":{"additionalProperties":false,"properties":{"host":{"type":"string"},"port":{"default":80,"maximum":65535,"minimum":0,"type":"integer"}},"type":"object"},"type":"object"},` +
		`"mode":{"default":"a","enum":["a","b"],"minLength":1,"type":"string"},"pair":{"items":{"type":"boolean"},"maxItems":2,"minItems":2,"type":"array"},"quoted":{"type":"string"},"raw":{},"real":{"type":"number"},` +
		`"small":{"maximum":9,"minimum":-128,"type":"integer"},"when":{"format":"date-time","type":"string"},"words":{"items":{"pattern":"^a","type":"string"},"minItems":1,"type":"array"}},` +
		`"required":["id","Plain","small","real","exact","any","when","addr","words","pair","map","inner","quoted"],"type":"object"}`
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	if got, err := protocol.SchemaOf[map[string]any](); err != nil || string(got) != `{"type":"object"}` {
		t.Errorf("%s, %v", got, err)
	}
}

type node struct {
	Next *node `json:"next"`
}

func TestSchemaOf_Refuses(t *testing.T) {
	t.Parallel()
	refuse := func(reason string, _ json.RawMessage, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%v, want %s", err, reason)
		}
	}
	check := func(schema json.RawMessage, err error) func(string) {
		return func(reason string) { t.Helper(); refuse(reason, schema, err) }
	}
	check(protocol.SchemaOf[int]())("not a struct")
	check(protocol.SchemaOf[node]())("contains itself")
	check(protocol.SchemaOf[struct{ F func() }]())("no JSON for a func()")
	check(protocol.SchemaOf[struct{ M map[int]string }]())("must be strings")
	check(protocol.SchemaOf[struct {
		S string `minimum:"1"`
	}]())("minimum is for fields of the type integer or number")
	check(protocol.SchemaOf[struct {
		I int `minimum:"one"`
	}]())("must be a number")
	check(protocol.SchemaOf[struct {
		I int `pattern:"x"`
	}]())("pattern is for")
	check(protocol.SchemaOf[struct {
		I int `enum:"1,x"`
	}]())(`"x" is not valid JSON`)
	check(protocol.SchemaOf[struct {
		I int `default:"1.5"`
	}]())("is not a int")
}

func TestDefaults_FillInMissingFields(t *testing.T) {
	t.Parallel()
	d := newDisks()
	ask(t, d, protocol.About{}, input(`{"name":"x"}`), "create")
	if d.there["x"].Size != 10 {
		t.Errorf("the default is not filled in: %+v", d.there)
	}
	ask(t, d, protocol.About{}, input(`{"name":"x","size":3}`), "create")
	if d.there["x"].Size != 3 {
		t.Errorf("the default wins over the user: %+v", d.there)
	}
}
