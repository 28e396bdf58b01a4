package planfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/plan/change"
	"deployster/plan/reason"
	"deployster/protocol"
)

// wide is a plan of many resources that have much in common, and of one that has
// something in every field.
func wide(n int) *plan.Plan {
	p := samplePlan()
	for i := range n {
		p.Resources[fmt.Sprintf("r%d", i)] = &plan.Step{Type: "acme/disk:1", Reason: reason.New(reason.Failed, "<new> \"\u2028\""),
			Config: json.RawMessage(`{"b":"<&>","a":1.50}`), Unknown: map[string]string{"/a": "resource.x"},
			Init:   protocol.Type{Reference: "acme/disk:1", Protocol: 2, ConfigSchema: json.RawMessage(`{"type":"object"}`)},
			Mounts: []runner.Mount{{Source: "/s", Target: "/t"}}, OnRemove: "destroy", Source: "a.hcl:1",
			Part: &change.Create{Answer: change.Answer{State: json.RawMessage(`{}`), Actions: []protocol.Action{{Name: "make"}}}}}
	}
	return p
}

// What is read step by step, by hand and on all processors is what encoding/json
// reads, and shares what is the same. What it refuses is refused with its words.
func TestSteps_AreReadAsJSONIs(t *testing.T) {
	t.Parallel()
	content, err := encode(wide(500))
	if err != nil {
		t.Fatal(err)
	}
	for what, edit := range map[string][2]string{
		"as it was written": {},
		"a null":            {`"config":{"b"`, `"config":null,"x":{"b"`},
		"no config":         {`"config":{"b":"<&>","a":1.50}`, `"config":null`},
		"an unknown key":    {`"reason":`, `"raeson":`},
		"another case":      {`"type":"acme/disk:1"`, `"Type":"acme/disk:1"`},
		"a number":          {`"change":"create"`, `"change":5`},
		"no text":           {`"code":"error"`, `"code":5`},
		"twice":             {`"on_remove":"destroy"`, `"on_remove":"forget","on_remove":"destroy"`},
		"settings":          {`"settings":{}`, `"settings":{"pids":5}`},
		"wrong actions":     {`"actions":[{"name":"make"`, `"actions":[{"nome":"make"`},
		"resources twice":   {`"resources":{`, `"Resources":{},"resources":{`},
		"spaces":            {`"settings":{}`, "\"settings\" : { }\n"},
		"cut off":           {`"summary"`, ``},
	} {
		edited := bytes.ReplaceAll(content, []byte(edit[0]), []byte(edit[1]))
		if edit[0] == "" {
			edited = content
		} else if bytes.Equal(edited, content) {
			t.Fatalf("%s: nothing was edited", what)
		}
		whole, want := &Document{}, (*plan.Plan)(nil)
		wrong := jsondoc.DecodeStrict(edited, whole)
		if wrong == nil {
			want, wrong = whole.load()
		}
		got, err := open(edited).plan()
		if fmt.Sprint(err) != fmt.Sprint(wrong) || wrong == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %+v, %v\nwant %+v, %v", what, got, err, want, wrong)
		}
	}
	p, err := open(content).plan()
	if err != nil {
		t.Fatal(err)
	}
	kept := map[*byte]bool{}
	for addr, step := range p.Resources {
		if strings.HasPrefix(addr, "r") {
			kept[&step.Init.ConfigSchema[0]] = true
		}
	}
	if len(kept) == 0 || len(kept) > 16 {
		t.Errorf("500 steps keep %d schemas", len(kept))
	}
}

// The digest of a plan is that of its sorted document, whichever way it is sorted.
func TestDigest_IsOfTheSortedPlan(t *testing.T) {
	t.Parallel()
	content, err := encode(wide(3))
	if err != nil {
		t.Fatal(err)
	}
	long := bytes.Replace(content, []byte("1.50"), []byte(strings.Repeat("9", 500)), 1) // no image may say that
	for _, content := range [][]byte{content, long} {
		var v any
		dec := json.NewDecoder(bytes.NewReader(content))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
		if got, err := canonical(content); err != nil || string(got)+"\n" != want.String() {
			t.Errorf("%v\ngot  %.300s\nwant %.300s", err, got, want.String())
		}
	}
}

// Large providers have schemas of 100 KB: with one for each resource, a plan of 3,000 would
// be larger than what is read.
func TestTypes_AreStoredOnce(t *testing.T) {
	t.Parallel()
	p := samplePlan()
	schema := json.RawMessage(`{"description":"` + strings.Repeat("x", 100_000) + `"}`)
	for i := range 3000 {
		p.Resources[fmt.Sprintf("r%d", i)] = &plan.Step{Type: "acme/large:1", Config: json.RawMessage(`{}`),
			Init: protocol.Type{Reference: "acme/large:1", ConfigSchema: schema}, Part: &change.Valid{}}
	}
	p.Others["y"] = protocol.Type{Reference: "acme/large:1", ConfigSchema: schema, Kind: "y"}
	p.Layers, _ = p.Before().Layers()
	p.ID = plan.Fingerprint(p)
	got, err := read(written(t, p))
	if err != nil {
		t.Fatal(err)
	}
	if p.Sources = got.Sources; !reflect.DeepEqual(got, p) {
		t.Error("another plan was read")
	}
	for what, edit := range map[string][2]string{"type 7": {`"init":0`, `"init":7`}, "no type": {`"init":0`, `"init":-1`}, "others": {`"x":0`, `"x":9`}} {
		content, err := encode(p)
		if err != nil {
			t.Fatal(err)
		}
		edited := bytes.Replace(content, []byte(edit[0]), []byte(edit[1]), 1)
		if _, err := open(edited).plan(); bytes.Equal(edited, content) || err == nil || !strings.Contains(err.Error(), "missing") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
