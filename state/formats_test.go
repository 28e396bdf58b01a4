package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
	"deployster/state/actions"
	"deployster/state/content"
	"deployster/state/lines"
	"deployster/state/moves"
)

var update = flag.Bool("update", false, "write the fixtures of the present formats anew")

// changed is what to do when a fixture does not fit.
const changed = "the format of %s has changed. Files of today could not be read by the version that wrote the fixture, or say something else: " +
	"give it a higher Format, an upgrade (content/upgrade.go) and a fixture of its own. Before the first release, or when it is a new key that may be left out: go test ./state -run TestFormats_AreReadAndTheNewestIsWritten -update"

// everyField is a state with something in every field.
func everyField() Snapshot {
	e, exit := full(), 3
	e.ReadOnly = true
	e.Settings.Disk = 1
	e.Secrets = protocol.Fingerprints{"password": "aa"}
	e.Passed = []Passed{{Line: "0123", Space: "main", Version: artifact.Version{"ref": "a1"}}}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	fill(reflect.ValueOf(&e).Elem())
	s := Snapshot{Format: Format, Lineage: "0123456789abcdef", Serial: 7, Resources: map[string]Entry{"web[\"a\"]": e, "b": entry(`{}`), "c": incompleteEntry(),
		"b (deposed 2)": entry(`{"n":2}`), "gone (deposed 1)": entry(`{"n":3}`)},
		Outputs: map[string]Output{"o": {Value: json.RawMessage(`[1,2]`), Sensitive: true}},
		Applied: []Applied{{Plan: "p0", Run: "r0", At: at, Status: StatusInterrupted, InFlight: []InFlight{{Address: "b", Action: "make", Key: "k", Started: at}}}},
		Unsettled: map[string]actions.Unsettled{"c": {Plan: "p0", By: actions.By{Command: "deployster apply", PID: 7, Host: "h", Boot: "b"},
			Actions: []actions.Attempt{{Action: "make", Key: "k", Started: at}, {Action: "polish", Key: "k2", Started: at, Exit: &exit, Silent: true}}}},
		Artifacts: map[string]Artifact{"site": {Pin: samplePin(), Heads: map[string]artifact.Version{"main": {"ref": "a1"}},
			Metadata: artifact.Metadata{{Name: "author", Value: "ann"}}, At: at}},
		Pins:       map[string]Pin{"0123": samplePin()},
		Operations: content.Operations{"nightly": sampleOperation()}, Read: map[string]Read{"net": {Lineage: "fedc", Serial: 4}},
		Former: []byte("packed"), Renamed: []moves.Move{{From: "a", To: "b"}},
		Transferred: []Transferred{{Address: "gone", Entry: &e, Transfer: Transfer{ID: "t", To: &content.Other{State: "/other", Address: "x"}}}}}
	fill(reflect.ValueOf(&s.Applied[0]).Elem())
	fill(reflect.ValueOf(&s.Applied[0].InFlight[0]).Elem())
	fill(reflect.ValueOf(&s).Elem())
	return s
}

func sampleOperation() content.Operation {
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	return content.Operation{Scheduled: Scheduled{Resource: "b", Run: "backup", Input: json.RawMessage(`{"to":"hunter2"}`), Sensitive: []string{"/to"},
		Schedule: "0 3 * * *"}, Since: at, Turn: at.Add(24 * time.Hour)}
}

func samplePin() Pin {
	return Pin{Name: "site", Type: "acme/git:1", Settings: runner.Settings{Env: map[string]string{"TOKEN": "x"}},
		Recipe: artifact.Recipe{Protocol: artifact.Artifacts2, Digest: "sha256:1", Source: json.RawMessage(`{"key":"hunter2"}`),
			Params: json.RawMessage(`{}`), Space: "main", Version: artifact.Version{"ref": "a1"}, Env: map[string]string{"TOKEN": "x"}},
		Sensitive: PinSensitive{Source: []string{"/key"}, Env: []string{"TOKEN"}}}
}

// incompleteEntry is one of a resource that was never VALID.
func incompleteEntry() Entry {
	e, err := entry(`{}`).Begun()
	if err != nil {
		panic(err)
	}
	return e
}

// everyFact are the records of a journal that continues it, one of each kind.
func everyFact() []record {
	e, begun, exit, turn := entry(`{"n":1}`), incompleteEntry(), 3, time.Date(2026, 1, 3, 3, 0, 0, 0, time.UTC)
	list := []record{
		{Kind: kindBegin, Begin: &begin{Format: Format, Lineage: "0123456789abcdef", Serial: 7, Plan: "p1", Run: "r1", By: actions.By{Command: "deployster apply", PID: 7, Host: "h", Boot: "b"}}},
		{Kind: kindStarted, Address: "c", Action: "make", Key: "k1", Entry: &begun, Remembers: true},
		{Kind: kindEnded, Address: "c", Action: "make", Exit: &exit, Reason: "no room", Memory: json.RawMessage(`{"id":1.10}`)},
		{Kind: kindEnded, Address: "c", Action: "unmake", Exit: &exit, Memory: json.RawMessage(`null`)},
		{Kind: kindValid, Address: "c", Entry: &e},
		{Kind: kindMoved, Moves: []moves.Move{{From: "c", To: "d"}}},
		{Kind: kindRemoved, Address: "b"},
		{Kind: kindOutputs, Outputs: map[string]Output{"o": {Value: json.RawMessage(`"x"`)}}},
		{Kind: kindFailed, Address: "b"},
		{Kind: kindOperations, Operations: content.Operations{"nightly": sampleOperation()}},
		{Kind: kindTurn, Action: "nightly", Turn: &turn},
		{Kind: kindFormer, Former: []byte("packed")},
	}
	for i := range list {
		list[i].Seq, list[i].Durable, list[i].Time = uint64(i+1), uint64(i), time.Date(2026, 1, 2, 3, 4, i, 0, time.UTC)
	}
	return list
}

// fill puts something into the plain fields that have nothing, so that a new
// field is in the fixture.
func fill(v reflect.Value) {
	for i := range v.NumField() {
		f := v.Field(i)
		if !f.CanSet() || !f.IsZero() {
			continue
		}
		switch f.Kind() {
		case reflect.String:
			f.SetString("x")
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Int, reflect.Int64:
			f.SetInt(1)
		case reflect.Uint64:
			f.SetUint(1)
		case reflect.Slice:
			if f.Type() == reflect.TypeFor[json.RawMessage]() {
				f.SetBytes([]byte(`{"x":1}`))
			} else if f.Type().Elem().Kind() == reflect.String {
				f.Set(reflect.ValueOf([]string{"x"}).Convert(f.Type()))
			}
		case reflect.Map:
			if f.Type() == reflect.TypeFor[map[string]string]() {
				f.Set(reflect.ValueOf(map[string]string{"x": "y"}))
			} else if f.Type() == reflect.TypeFor[map[string]uint64]() {
				f.Set(reflect.ValueOf(map[string]uint64{"x": 1}))
			} else if f.Type() == reflect.TypeFor[map[string]json.RawMessage]() {
				f.Set(reflect.ValueOf(map[string]json.RawMessage{"x": json.RawMessage(`"y"`)}))
			}
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
			if f.Type().Elem().Kind() == reflect.Struct {
				fill(f.Elem())
			}
		case reflect.Struct:
			if f.Type() == reflect.TypeFor[time.Time]() {
				f.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
			} else {
				fill(f)
			}
		}
	}
}

func fixture(t *testing.T, name string, content []byte) []byte {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update && content != nil {
		ok(t, os.WriteFile(path, content, 0o600))
	}
	want, err := os.ReadFile(path)
	ok(t, err)
	if content != nil && string(want) != string(content) {
		t.Errorf(changed, path)
		t.Logf("written now:\n%s", content)
	}
	return want
}

// TestFormats_AreReadAndTheNewestIsWritten: there is a fixture of each format that ever was. All are read, and say
// what they said, because no upgrade adds anything yet; that of the present format is
// also what is written, to the byte.
func TestFormats_AreReadAndTheNewestIsWritten(t *testing.T) {
	t.Parallel()
	arrived := everyField()
	arrived.ArrivesFrom = "" // else nobody may load it
	now, err := arrived.Encode()
	ok(t, err)
	var journal []byte
	prev := ""
	for _, r := range everyFact() {
		r.Prev = prev
		line, err := recordLine(r)
		ok(t, err)
		prev, journal = lines.Hash(line[:len(line)-1]), append(journal, line...)
	}
	for format := 1; format <= Format; format++ {
		current, facts := now, journal
		if format < Format {
			current, facts = nil, nil // as it was written then
		}
		path := filepath.Join(t.TempDir(), "s.json")
		ok(t, os.WriteFile(path, fixture(t, fmt.Sprintf("state-format-%d.json", format), current), 0o600))
		got, _, err := Load(File(path))
		ok(t, err)
		file, err := os.ReadFile(path)
		ok(t, err)
		if asNow := bytes.Replace(file, fmt.Appendf(nil, `"format": %d`, format), fmt.Appendf(nil, `"format": %d`, Format), 1); encoded(t, got) != string(asNow) {
			t.Errorf("format %d: read as\n%s", format, encoded(t, got))
		}
		ok(t, os.WriteFile(path+".journal", fixture(t, fmt.Sprintf("journal-format-%d", format), facts), 0o600))
		got, rec, err := Load(File(path))
		ok(t, err)
		if _, there := got.Resources["d"]; !there || len(got.Resources) != 2*format || // format 2 has two that are deposed
			rec == nil || rec.Plan != "p1" || string(got.Outputs["o"].Value) != `"x"` {
			t.Errorf("format %d: with its journal %+v, %+v", format, got, rec)
		}
	}
}

// TestEntryHasNoFieldThatIsLost: what a struct of the state knows comes back.
func TestEveryField_ComesBack(t *testing.T) {
	t.Parallel()
	want := everyField()
	got, err := Parse("s", []byte(encoded(t, want)))
	ok(t, err)
	for _, v := range []reflect.Value{reflect.ValueOf(want), reflect.ValueOf(withDeposed(want)), reflect.ValueOf(want.Applied[0]), reflect.ValueOf(want.Applied[0].InFlight[0])} {
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("the sample has no %s.%s", v.Type().Name(), v.Type().Field(i).Name)
			}
		}
	}
	if wanted, err := want.Canonical(); err != nil || !reflect.DeepEqual(got, wanted) {
		t.Errorf("got %+v, want %+v, %v", got, wanted, err)
	}
}

// withDeposed is an entry as a file has it, with something in every field.
func withDeposed(s Snapshot) Entry {
	e := s.Resources[`web["a"]`]
	e.Deposed = s.Nested("b").Deposed
	return e
}

func TestUpgrades_RunInOrder(t *testing.T) {
	t.Parallel()
	steps := map[int]jsondoc.Upgrade{
		1: func(m map[string]json.RawMessage) error {
			m["names"] = m["name"]
			delete(m, "name")
			return nil
		},
		2: func(m map[string]json.RawMessage) error {
			if string(m["names"]) == `"bad"` {
				return errors.New("no good name")
			}
			m["names"] = json.RawMessage(fmt.Sprintf("[%s]", m["names"]))
			return nil
		},
	}
	for _, c := range []struct{ in, want, err string }{
		{`{"format":1,"name":"a"}`, `{"format":3,"names":["a"]}`, ""},
		{`{"format":2,"names":"a"}`, `{"format":3,"names":["a"]}`, ""},
		{`{"format":3,"names":["a"]}`, `{"format":3,"names":["a"]}`, ""},
		{`{"format":1,"name":"bad"}`, "", "from format 2 to 3: no good name"},
		{`{"format":0}`, "", "there is no way from its format 0 to 1"},
	} {
		var head struct{ Format int }
		ok(t, json.Unmarshal([]byte(c.in), &head))
		got, err := jsondoc.Upgraded([]byte(c.in), head.Format, 3, steps)
		if err == nil && string(got) != c.want || fmt.Sprint(err) != c.err && c.err != "" || (err == nil) != (c.err == "") {
			t.Errorf("%s: got %s, %v", c.in, got, err)
		}
	}
	if len(content.Upgrades()) != Format-1 {
		t.Errorf("there are %d formats and %d upgrades", Format, len(content.Upgrades()))
	}
}
