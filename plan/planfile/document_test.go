package planfile

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"deployster/plan"
	"deployster/plan/change"
)

// fill gives every field of a value that is written something.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") != "-" {
				fill(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"a":1}`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.String:
		v.SetString("create")
	case reflect.Bool:
		v.SetBool(true)
	}
}

func TestDocument_KeepsEveryPart(t *testing.T) {
	t.Parallel()
	for _, kind := range append(plan.Changes(), plan.ReadFailed) {
		step := &plan.Step{Type: "acme/file:1", Config: json.RawMessage(`{}`), Part: change.New(kind)}
		if p, is := step.Part.(*change.Replace); is {
			old := &change.Destroy{}
			fill(reflect.ValueOf(old).Elem())
			p.Old = &plan.Step{Config: json.RawMessage(`{}`), Part: old}
		} else {
			fill(reflect.ValueOf(step.Part).Elem())
		}
		written, err := encode(&plan.Plan{Format: plan.Format, Resources: map[string]*plan.Step{"a": step}})
		if err != nil {
			t.Fatal(err)
		}
		read, err := open(written).plan()
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if got := read.Resources["a"]; !reflect.DeepEqual(got, step) {
			t.Errorf("%s: read %+v, want %+v", kind, got.Part, step.Part)
		}
	}
}

func TestDocument_KeepsEveryCertainty(t *testing.T) {
	t.Parallel()
	ids := map[string]bool{}
	for certainty, member := range map[plan.Certainty]string{plan.Certain: `"a":{`, plan.MayChange: `"may_change":true`, plan.Early: `"early":true`,
		plan.QueriedAgain: `"queried_again":true`} {
		step := &plan.Step{Type: "acme/file:1", Config: json.RawMessage(`{}`), Certainty: certainty, Part: &change.Valid{}}
		p := &plan.Plan{Format: plan.Format, Resources: map[string]*plan.Step{"a": step}}
		ids[plan.Fingerprint(p)] = true
		written, err := encode(p)
		if err != nil || !strings.Contains(string(written), member) {
			t.Fatalf("wrote %s, %v, want %s", written, err, member)
		}
		read, err := open(written).plan()
		if err != nil || !reflect.DeepEqual(read.Resources["a"], step) {
			t.Errorf("%s: read %+v, %v, want %+v", certainty, read, err, step)
		}
	}
	if len(ids) != 4 {
		t.Errorf("4 certainties have %d ids of plans, want 4", len(ids))
	}
}

func TestDocument_HasOnePartOfItsChange(t *testing.T) {
	t.Parallel()
	for resource, want := range map[string]string{
		`"change":"valid","init":0,"valid":{}`:                                  "",
		`"change":"valid","init":0`:                                             "0 parts",
		`"change":"valid","init":0,"valid":{},"queried_again":true`:             "",
		`"change":"create","init":0,"create":{},"early":true,"may_change":true`: "more than one of may_change, early",
		`"change":"valid","init":0,"valid":{},"forget":{}`:                      "2 parts",
		`"change":"valid","init":0,"forget":{}`:                                 "not that of its part",
		`"change":"forget","init":0,"forget":{"actions":[]}`:                    "unknown field",
		`"change":"valid","init":0,"valid":{},"replace":{"old":null}`:           "2 parts",
		`"change":"replace","init":0,"replace":{"old":{"change":"create"}}`:     "parts",
	} {
		text := `{"format":3,"types":[{}],"resources":{"a":{"type":"t","config":{},"settings":{},` + resource + `}}}`
		_, err := open([]byte(text)).plan()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", resource, err, want)
		}
	}
}

func TestRead_RefusesFormat2ByName(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("testdata/plan-format-2.bin")
	if err != nil {
		t.Fatal(err)
	}
	const want = "It has format 2; this version of deployster reads format 3. "
	if _, err := read(file); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "make the plan again") {
		t.Errorf("got %v, want %q", err, want)
	}
}
