package resource

import (
	"encoding/json"
	"io"
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"deployster/bridge/internal/schema"
	"deployster/bridge/internal/tfplugin/tfplugin5"
)

func TestChange_ReportsWhatIsNotKnownAndForecastsTheRest(t *testing.T) {
	pair := func(a, b cty.Value) cty.Value { return cty.ObjectVal(map[string]cty.Value{"a": a, "b/c": b}) }
	x, y, unknown := cty.StringVal("x"), cty.StringVal("y"), cty.UnknownVal(cty.String)
	list := func(v ...cty.Value) cty.Value { return cty.ListVal(v) }
	for _, c := range []struct {
		name              string
		was, will         cty.Value
		legacy, sensitive bool
		unknown           []string
		forecast          string
	}{
		{name: "known", was: x, will: y, forecast: `{"m":"y"}`},
		{name: "not known", was: x, will: unknown, unknown: []string{"/m"}},
		{name: "one part is not known", was: list(pair(x, x)), will: list(pair(x, unknown)), unknown: []string{"/m/0/b~1c"},
			forecast: `{"m":[{"a":"x"}]}`},
		{name: "what is known beside it is another", was: pair(x, x), will: pair(y, unknown), unknown: []string{"/m/b~1c"},
			forecast: `{"m":{"a":"y"}}`},
		{name: "a longer list", was: list(x), will: list(x, unknown), unknown: []string{"/m/1"}, forecast: `{"m":["x",null]}`},
		{name: "a set", was: cty.SetVal([]cty.Value{x}), will: cty.SetVal([]cty.Value{unknown}), unknown: []string{"/m"}},
		{name: "of a provider that may do otherwise", was: x, will: y, legacy: true, forecast: `{"m":"y"}`},
		{name: "it stays", was: x, will: x, forecast: `{"m":"x"}`},
		{name: "a secret stays", was: x, will: x, sensitive: true, forecast: `{"m":"x"}`},
		{name: "it stays empty", was: cty.NullVal(cty.String), will: cty.NullVal(cty.String), forecast: `{"m":null}`},
		{name: "secret", was: x, will: y, sensitive: true, unknown: []string{"/m"}},
		{name: "not there before", will: y, forecast: `{"m":"y"}`},
		{name: "not there before and not known", will: unknown, unknown: []string{"/m"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &schema.Block{Attributes: map[string]*schema.Attribute{"m": {Type: c.will.Type(), Optional: true, Sensitive: c.sensitive}}}
			of := func(v cty.Value) cty.Value { return cty.ObjectVal(map[string]cty.Value{"m": v}) }
			ch := &change{from: cty.NullVal(b.Type()), to: planned{state: of(c.will), legacy: c.legacy}}
			if c.was != cty.NilVal {
				ch.from = of(c.was)
			}
			if got := ch.unknown(b); !slices.Equal(got, c.unknown) {
				t.Errorf("not known: %q, and must be %q", got, c.unknown)
			}
			got, mayDiffer, err := ch.forecast(b)
			if err != nil || string(got) != c.forecast || mayDiffer != c.legacy {
				t.Errorf("forecast: %s, may differ: %t, %v; must be %s", got, mayDiffer, err, c.forecast)
			}
		})
	}
}

func TestKept_TakesWhatWasPlannedAsFarAsItWasKnown(t *testing.T) {
	x, y, unknown := cty.StringVal("x"), cty.StringVal("y"), cty.UnknownVal(cty.String)
	for _, c := range []struct {
		name          string
		planned, made cty.Value
		want          bool
	}{
		{"as planned", x, x, true},
		{"another", x, y, false},
		{"chosen", unknown, y, true},
		{"gone", x, cty.NullVal(cty.String), false},
		{"one of a list is chosen", cty.ListVal([]cty.Value{x, unknown}), cty.ListVal([]cty.Value{x, y}), true},
		{"one of a list is another", cty.ListVal([]cty.Value{x, unknown}), cty.ListVal([]cty.Value{y, y}), false},
		{"a longer list", cty.ListVal([]cty.Value{unknown}), cty.ListVal([]cty.Value{x, y}), false},
		{"an object", cty.ObjectVal(map[string]cty.Value{"a": unknown, "b": x}), cty.ObjectVal(map[string]cty.Value{"a": y, "b": y}), false},
		{"two of a set are the same", cty.SetVal([]cty.Value{x, unknown}), cty.SetVal([]cty.Value{x}), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := kept(c.planned, c.made); got != c.want {
				t.Errorf("%v", got)
			}
		})
	}
}

// A provider of protocol 5 that says what is wrong with its schemas is heard.
func TestRaised_KeepsErrors(t *testing.T) {
	warning, fault := tfplugin5.Diagnostic_WARNING, tfplugin5.Diagnostic_ERROR
	list := []*tfplugin5.Diagnostic{{Severity: warning, Summary: "old"}, {Severity: fault, Summary: "wrong", Detail: "two of one name"}}
	if err := problem(raised(list), "", io.Discard); err == nil || err.Error() != "wrong: two of one name" {
		t.Errorf("%v", err)
	}
	if err := problem(raised(list[:1]), "", io.Discard); err != nil {
		t.Errorf("a warning: %v", err)
	}
}

// Of what is partly known the known part is shown, and the rest has pointers.
func TestKnownPart_HasPointersToTheUnknownValues(t *testing.T) {
	t.Parallel()
	text, open := cty.StringVal, cty.UnknownVal(cty.String)
	for name, c := range map[string]struct {
		v       cty.Value
		known   string
		unknown []string
	}{
		"known":     {cty.ListVal([]cty.Value{text("a")}), `["a"]`, nil},
		"unknown":   {open, `null`, []string{"/x"}},
		"a list":    {cty.ListVal([]cty.Value{text("a"), open, text("c")}), `["a",null,"c"]`, []string{"/x/1"}},
		"a map":     {cty.MapVal(map[string]cty.Value{"a/b": open, "c": text("d")}), `{"c":"d"}`, []string{"/x/a~1b"}},
		"a set":     {cty.SetVal([]cty.Value{text("a"), open}), `null`, []string{"/x"}},
		"null":      {cty.ObjectVal(map[string]cty.Value{"a": open, "b": cty.NullVal(cty.String)}), `{"b":null}`, []string{"/x/a"}},
		"no object": {cty.UnknownVal(cty.EmptyObject), `null`, []string{"/x"}},
		"deeper": {cty.ListVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{"a": text("b"), "s": cty.SetVal([]cty.Value{open})}),
			cty.ObjectVal(map[string]cty.Value{"a": open, "s": cty.SetValEmpty(cty.String)})}), `[{"a":"b"},{"s":[]}]`,
			[]string{"/x/0/s", "/x/1/a"}},
	} {
		part, unknown := knownPart(c.v, "/x")
		if known, err := json.Marshal(part); err != nil || string(known) != c.known || !slices.Equal(unknown, c.unknown) {
			t.Errorf("%s: %s, %q, %v", name, known, unknown, err)
		}
	}
}
