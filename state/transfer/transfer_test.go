package transfer_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"deployster/state"
	"deployster/state/actions"
	"deployster/state/content"
	"deployster/state/moves"
	"deployster/state/transfer"
)

// memory is a state that is only in memory.
type memory struct {
	s      state.Snapshot
	coming map[string]state.Announced
}

func (m *memory) Announce(a state.Announced) error {
	m.coming[a.Entry.Transfer.ID] = a
	return nil
}

func (m *memory) Announced() ([]state.Announced, error) {
	return slices.Collect(maps.Values(m.coming)), nil
}

func (m *memory) Withdraw(id string) error {
	delete(m.coming, id)
	return nil
}

func (m *memory) Snapshot() state.Snapshot { return m.s }

func (m *memory) Replace(next state.Snapshot) error {
	next.Serial = m.s.Serial + 1
	m.s = next
	return nil
}

// two returns two states, of which the first has the entries a, b and c.
func two() (from, to transfer.End) {
	entry := func(deps ...string) state.Entry {
		return state.Entry{Type: "acme/thing:1", Config: json.RawMessage("{}"), State: json.RawMessage("{}"), ValidAt: time.Unix(1, 0), Dependencies: deps,
			Acted: 4, Memory: json.RawMessage(`"7"`)}
	}
	a := state.Snapshot{Lineage: "A", Serial: 5, Resources: map[string]state.Entry{"a": entry(), "b": entry("a"), "c": entry("a", "b")}}
	b := a.Resources["b"]
	b.Seen, b.Aliases = map[string]uint64{"a": 4}, map[string]string{"up": "a"}
	a.Resources["b"] = b
	in := func(s state.Snapshot) *memory { return &memory{s.Clone(), map[string]state.Announced{}} }
	return transfer.End{Side: in(a), Name: "/a"}, transfer.End{Side: in(state.Snapshot{Lineage: "B", Serial: 9}), Name: "/b"}
}

func give(t *testing.T, from, to transfer.End, list ...moves.Move) {
	t.Helper()
	if err := transfer.Begin(from, to, list, time.Unix(3, 0)); err != nil {
		t.Fatal(err)
	}
	if err := transfer.Finish(from, to); err != nil {
		t.Fatal(err)
	}
}

// What arrives has its config, state and memory; its addresses, and what was seen and done, are made anew.
func TestFinish_BringsTheEntryWithItsMemory(t *testing.T) {
	from, to := two()
	give(t, from, to, moves.Move{From: "a", To: "x"}, moves.Move{From: "b", To: "b"})
	here, there := from.Snapshot(), to.Snapshot()
	if got := there.Resources["b"]; !reflect.DeepEqual(got.Dependencies, []string{"x"}) || got.Aliases["up"] != "x" || len(got.Seen) > 0 || got.Acted != 0 ||
		string(got.Memory) != `"7"` || got.Transfer != nil {
		t.Errorf("b arrives as %+v", got)
	}
	if c := here.Resources["c"]; len(c.Dependencies) > 0 || len(here.Resources) != 1 {
		t.Errorf("c is left as %+v in %+v", c, here.Resources)
	}
	if went, came := here.Went("a"), there.Came("x"); went == nil || went.To.Address != "x" || went.To.State != "/b" || came == nil ||
		came.From.Address != "a" || came.From.State != "/a" || went.Entry == nil || went.Entry.Memory != nil {
		t.Errorf("they remember %+v, %+v", went, came)
	}
	give(t, to, from, moves.Move{From: "x", To: "a"})
	if s := from.Snapshot(); s.Went("a") != nil || s.Resources["a"].Type == "" {
		t.Errorf("back again, it has %+v", s.Transferred)
	}
}

// A state that was set back to before a transfer does not take part in its end.
func TestFinish_NeedsBoth(t *testing.T) {
	from, to := two()
	old := from.Snapshot().Clone()
	give(t, from, to, moves.Move{From: "a", To: "a"})
	b := to.Snapshot().Clone()
	e := b.Resources["a"]
	e.Transfer, b.Transferred = &state.Transfer{ID: "1", From: &content.Other{State: "/a", Lineage: "A", Address: "a"}}, nil
	b.Resources["a"] = e
	if err := to.Replace(b); err != nil {
		t.Fatal(err)
	}
	if err := from.Replace(old); err != nil {
		t.Fatal(err)
	}
	if err := transfer.Finish(from, to); err != nil || to.Snapshot().Resources["a"].Transfer == nil {
		t.Errorf("it arrives, and the first state has it too: %v", err)
	}
}

// What is refused changes nothing.
func TestBegin_Refuses(t *testing.T) {
	open := actions.Unsettled{Actions: []actions.Attempt{{Action: "make", Key: "k"}}}
	exit := 1
	ended := actions.Unsettled{Actions: []actions.Attempt{{Action: "make", Key: "k", Exit: &exit}}}
	for name, c := range map[string]struct {
		spoil func(here, there *state.Snapshot)
		says  string
	}{
		"in flight":   {func(a, _ *state.Snapshot) { a.Unsettled["a"] = open }, "may still run"},
		"unsettled":   {func(a, _ *state.Snapshot) { a.Unsettled["a"] = ended }, "was not VALID since"},
		"dirty":       {func(a, _ *state.Snapshot) { set(a, "a", func(e *state.Entry) { e.Dirty = true }) }, "An action has begun"},
		"deposed":     {func(a, _ *state.Snapshot) { a.Resources[moves.DeposedKey("a", 1)] = a.Resources["a"] }, "still to be destroyed"},
		"on its way":  {func(a, _ *state.Snapshot) { mark(a, "a", true) }, "already being transferred to /c"},
		"arriving":    {func(a, _ *state.Snapshot) { mark(a, "a", false) }, "still being transferred here, from /c"},
		"not there":   {func(a, _ *state.Snapshot) { delete(a.Resources, "a") }, "has no a"},
		"taken":       {func(a, b *state.Snapshot) { b.Resources["x"] = a.Resources["a"] }, "has x"},
		"one state":   {func(_, b *state.Snapshot) { b.Lineage = "A" }, "are the same state"},
		"made there":  {func(_, b *state.Snapshot) { b.Unsettled["x"] = open }, "has x"},
		"comes there": {func(_, b *state.Snapshot) { b.Serial = 99 }, "has x"},
		"left, there": {func(a, b *state.Snapshot) { b.Resources[moves.DeposedKey("x", 1)] = a.Resources["a"] }, "has x"},
	} {
		from, to := two()
		a, b := from.Snapshot().Clone(), to.Snapshot().Clone()
		c.spoil(&a, &b)
		if from.Replace(a) != nil || to.Replace(b) != nil {
			t.Fatal("cannot set it up")
		}
		if b.Serial == 99 { // a third project has announced something
			other := state.Entry{Transfer: &state.Transfer{ID: "3", From: &content.Other{State: "/c", Lineage: "C", Address: "c"}}}
			if err := to.Announce(state.Announced{Address: "x", Entry: other}); err != nil {
				t.Fatal(err)
			}
		}
		err := transfer.Begin(from, to, []moves.Move{{From: "a", To: "x"}}, time.Unix(3, 0))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: it says %v", name, err)
		}
		if !reflect.DeepEqual(from.Snapshot().Resources, a.Resources) {
			t.Errorf("%s: it changes the state", name)
		}
	}
}

func set(s *state.Snapshot, addr string, change func(*state.Entry)) {
	e := s.Resources[addr]
	change(&e)
	s.Resources[addr] = e
}

func mark(s *state.Snapshot, addr string, leaves bool) {
	set(s, addr, func(e *state.Entry) {
		other := &content.Other{State: "/c", Lineage: "C", Address: "x"}
		if e.Transfer = (&state.Transfer{ID: "9", From: other}); leaves {
			e.Transfer = &state.Transfer{ID: "9", To: other}
		}
	})
}

// What has left its state only arrives: nothing takes it back.
func TestCancel_NotAfterItHasGone(t *testing.T) {
	from, to := two()
	give(t, from, to, moves.Move{From: "a", To: "a"})
	if err := transfer.Cancel(from, to, []string{"a"}); err == nil || !strings.Contains(err.Error(), "not being transferred") {
		t.Errorf("it says %v", err)
	}
}

// Two resources do not get one address.
func TestBegin_RefusesOneAddressForTwo(t *testing.T) {
	from, to := two()
	err := transfer.Begin(from, to, []moves.Move{{From: "a", To: "x"}, {From: "b", To: "x"}}, time.Unix(3, 0))
	if err == nil || !strings.Contains(err.Error(), "would both be x") {
		t.Errorf("it says %v", err)
	}
}

// What is announced has what identifies the object, and nothing that only its project needs. It is forgotten when it has arrived, was
// taken back, or never began to leave.
func TestBegin_AnnouncesFirst(t *testing.T) {
	from, to := two()
	begin := func() state.Announced {
		t.Helper()
		if err := transfer.Begin(from, to, []moves.Move{{From: "a", To: "x"}}, time.Unix(3, 0)); err != nil {
			t.Fatal(err)
		}
		list, err := to.Announced()
		if err != nil || len(list) != 1 {
			t.Fatalf("announced are %+v, %v", list, err)
		}
		return list[0]
	}
	gone := func(when string) {
		t.Helper()
		if list, err := to.Announced(); err != nil || len(list) > 0 {
			t.Errorf("%s, announced are %+v, %v", when, list, err)
		}
	}
	a := begin()
	if a.Address != "x" || a.Entry.Memory != nil || a.Entry.Type == "" || a.Entry.Transfer.From.Address != "a" {
		t.Errorf("announced is %+v", a)
	}
	if e := transfer.Awaited(to.Snapshot(), []state.Announced{a}).Resources["x"]; e.Transfer == nil {
		t.Errorf("awaited is %+v", e)
	}
	if err := transfer.Cancel(from, to, []string{"a"}); err != nil {
		t.Fatal(err)
	}
	gone("taken back")
	before := from.Snapshot().Clone()
	begin()
	if err := from.Replace(before); err != nil { // as if it had died in between
		t.Fatal(err)
	}
	a = begin() // the first one is not in its way
	if err := transfer.Finish(from, to); err != nil {
		t.Fatal(err)
	}
	gone("arrived")
	if err := to.Announce(a); err != nil { // as if it had died before that was withdrawn
		t.Fatal(err)
	}
	if err := transfer.Arrived(to); err != nil {
		t.Fatal(err)
	}
	gone("arrived before")
}
