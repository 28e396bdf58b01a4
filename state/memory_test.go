package state

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"deployster/state/actions"
)

// said is a journal in which a resource was begun by a type with a memory.
func said(t *testing.T, path string, end *End) Snapshot {
	t.Helper()
	s := mustOpen(t, path)
	j := mustBegin(t, s, "p")
	e := entry(`{}`)
	ok(t, j.ActionStarted(Start{Address: "a", Action: "create", Key: "k", Incomplete: &e, Remembers: true}))
	if end != nil {
		ok(t, j.ActionEnded("a", "create", *end))
	}
	ok(t, s.Close()) // it died
	return mustOpen(t, path).Snapshot()
}

func TestMemory_IsRecordedWithTheEndOfItsAction(t *testing.T) {
	for name, c := range map[string]struct {
		end       *End
		memory    string
		unsettled int
	}{
		"nothing is known":        {nil, "", 1},
		"said":                    {&End{Memory: json.RawMessage(`{"id": 12345678901234567890.10}`)}, `{"id":12345678901234567890.10}`, 0},
		"said, and failed":        {&End{Exit: 1, Memory: json.RawMessage(`"x"`)}, `"x"`, 0},
		"nothing is there":        {&End{Exit: 1, Memory: json.RawMessage(`null`)}, "", 0},
		"not a word":              {&End{}, "", 1},
		"not a word, and failed":  {&End{Exit: 1}, "", 1},
		"never begun":             {&End{NotBegun: true}, "", 0},
		"a word that is no thing": {&End{Memory: json.RawMessage(`false`)}, "false", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := said(t, filepath.Join(t.TempDir(), "s.json"), c.end)
			if got := string(s.Resources["a"].Memory); got != c.memory {
				t.Errorf("the memory is %q, and must be %q", got, c.memory)
			}
			if got := s.Unsettled["a"].Names(); len(got) != c.unsettled {
				t.Errorf("unsettled are %q, and must be %d", got, c.unsettled)
			}
			if got := s.Masked().Resources["a"].Memory; got != nil {
				t.Errorf("it is shown: %s", got)
			}
		})
	}
}

func TestMemory_IsKeptByWhatIsSettledLater(t *testing.T) {
	zero := 0
	s := said(t, filepath.Join(t.TempDir(), "s.json"), nil).Settled("a", "k", &zero, json.RawMessage(`7`))
	if string(s.Resources["a"].Memory) != "7" || len(s.Unsettled["a"].Names()) != 0 {
		t.Errorf("memory %s, unsettled %q", s.Resources["a"].Memory, s.Unsettled["a"].Names())
	}
}

func TestMemory_OfWhichNothingWasPrinted_StaysOpen(t *testing.T) {
	s := said(t, filepath.Join(t.TempDir(), "s.json"), &End{})
	if got := s.Judged("a", actions.Done).Unsettled["a"].Names(); len(got) != 1 {
		t.Errorf("it is settled by somebody who says that it was done: what was made is not known")
	}
	if got := s.Judged("a", actions.Failed).Unsettled["a"].Names(); len(got) != 0 {
		t.Errorf("unsettled are %q, and nothing was made", got)
	}
}

func TestMemory_IsNotPartOfThePin(t *testing.T) {
	e := entry(`{}`)
	with := e
	with.Memory = json.RawMessage(`1`)
	if e.Pin() != with.Pin() {
		t.Error("an action that says something to remember makes the plan stale that it belongs to")
	}
}

// What a type says of a thing before an action begins is recorded with its beginning.
func TestMemory_IsRecordedWithTheStartOfAnAction(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.json")
	s := mustOpen(t, path)
	j := mustBegin(t, s, "p")
	e := entry(`{}`)
	start := Start{Address: "a", Action: "update", Key: "k", Incomplete: &e, Remembers: true, Memory: json.RawMessage(`{"id": 7.0}`)}
	ok(t, j.ActionStarted(start))
	ok(t, s.Close()) // it died
	s = mustOpen(t, path)
	got := s.Snapshot()
	if m := string(got.Resources["a"].Memory); m != `{"id":7.0}` || len(got.Unsettled["a"].Names()) != 1 {
		t.Errorf("the memory is %s, unsettled are %q", m, got.Unsettled["a"].Names())
	}
	start.Memory = json.RawMessage(`{"id"`)
	if err := mustBegin(t, s, "q").ActionStarted(start); err == nil {
		t.Error("what cannot be recorded is begun")
	}
}
