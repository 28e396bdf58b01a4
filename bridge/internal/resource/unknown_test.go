package resource

import (
	"io"
	"slices"
	"testing"

	"deployster/protocol"
)

// What is not known yet is not known to the provider either: what it makes of it is
// expected, and what must be made anew for it goes before what it depends on.
func TestState_WithValuesThatAreNotKnown(t *testing.T) {
	l := &life{Providers: timeProvider(t), t: t, kind: "time_offset"}
	ahead := func(config string, unknown ...string) protocol.StateInput {
		in := l.input(config)
		in.Unknown = unknown
		return in
	}
	if a := l.ask(ahead(`{"offset_days":null}`, "/offset_days")); len(a.Actions) != 1 || a.Actions[0].Name != "create" || a.ShutdownFirst != nil {
		t.Errorf("what is not there: %+v", a)
	}
	l.apply(l.input(`{"offset_days":7,"triggers":{"a":"b"}}`), "create")
	a := l.ask(ahead(`{"offset_days":null,"triggers":{"a":"b"}}`, "/offset_days"))
	if len(a.Actions) != 1 || a.Actions[0].Name != "update" || !slices.Contains(a.Unknown, "/offset_days") || a.ShutdownFirst != nil {
		t.Errorf("what is changed in place: %+v", a)
	}
	for _, in := range []protocol.StateInput{
		ahead(`{"offset_days":7,"triggers":{"a":null}}`, "/triggers/a"),
		ahead(`{"offset_days":7,"triggers":null}`, "/triggers"),
	} {
		a := l.ask(in)
		if len(a.Actions) != 1 || a.Actions[0].Name != "create" || a.ShutdownFirst == nil || a.ShutdownFirst.Name != "delete" || !a.ShutdownFirst.Destructive {
			t.Errorf("what is made anew: %+v", a)
			continue
		}
		if !slices.ContainsFunc(a.Reasons, func(r protocol.Reason) bool { return r.Message == "triggers: (known after apply), forces replacement" }) {
			t.Errorf("it says %+v", a.Reasons)
		}
		said, err := l.Act(t.Context(), protocol.ActionInput{StateInput: in, Action: "delete"}, "delete", "", io.Discard)
		if err != nil || string(said) != "null" {
			t.Errorf("the end: %s, %v", said, err)
		}
	}
	if _, err := l.State(t.Context(), ahead(`{"offset_days":null,"base_rfc3339":"yesterday"}`, "/offset_days"), io.Discard); err == nil {
		t.Error("what is wrong is not seen ahead")
	}
	if _, err := l.State(t.Context(), ahead(`{"offset_years":null}`), io.Discard); err == nil {
		t.Error("null without a pointer is taken for what is not known")
	}
}
