package observe_test

import (
	"encoding/json"
	"slices"
	"testing"

	"deployster/plan/observe"
	"deployster/protocol"
)

func TestSetUnknown_PutsNullWhereNothingIsKnown(t *testing.T) {
	t.Parallel()
	in := protocol.StateInput{Config: json.RawMessage(`{"a":{"$unknown":"x"},"b":[1,{"c/d":{"$unknown":"x"},"n":12345678901234567890.5}],"e":2}`)}
	observe.SetUnknown(&in, map[string]string{"/b/1/c~1d": "x", "/a": "x", "/b/7": "x", "/none/at/all": "x"})
	if want := `{"a":null,"b":[1,{"c/d":null,"n":12345678901234567890.5}],"e":2}`; string(in.Config) != want {
		t.Errorf("%s, want %s", in.Config, want)
	}
	if !slices.Equal(in.Unknown, []string{"/a", "/b/1/c~1d", "/b/7", "/none/at/all"}) {
		t.Errorf("%q", in.Unknown)
	}
	known := protocol.StateInput{Config: json.RawMessage(`{ "as": "written" }`)}
	if observe.SetUnknown(&known, nil); string(known.Config) != `{ "as": "written" }` || known.Unknown != nil {
		t.Errorf("what is all known became %s, %q", known.Config, known.Unknown)
	}
}

func TestAcceptsUnknown_NeedsIdentity(t *testing.T) {
	t.Parallel()
	named := protocol.Type{Unknowns: true, Identity: []string{"/where/zone"}}
	for _, c := range []struct {
		ty      protocol.Type
		unknown string
		want    bool
	}{
		{protocol.Type{}, "/a", false},
		{protocol.Type{Unknowns: true}, "/a", true},
		{protocol.Type{Unknowns: true}, "", false},
		{named, "/a", true},
		{named, "/wherever", true},
		{named, "/where", false},
		{named, "/where/zone", false},
		{named, "/where/zone/0", false},
		{named, "/where/other", true},
	} {
		if got := observe.AcceptsUnknown(&c.ty, map[string]string{c.unknown: "x"}); got != c.want {
			t.Errorf("%v with %q: %t", c.ty, c.unknown, got)
		}
	}
}
