package value

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"deployster/bridge/internal/schema"
)

// block has one member m.
func block(a *schema.Attribute, n *schema.Nested) *schema.Block {
	b := &schema.Block{Attributes: map[string]*schema.Attribute{}, Blocks: map[string]*schema.Nested{}}
	if a != nil {
		b.Attributes["m"] = a
	}
	if n != nil {
		b.Blocks["m"] = n
	}
	return b
}

func nested(mode schema.Mode) *schema.Nested {
	return &schema.Nested{Mode: mode, Block: block(&schema.Attribute{Type: cty.String, Optional: true}, nil)}
}

func of(t cty.Type) *schema.Block { return block(&schema.Attribute{Type: t, Optional: true}, nil) }

var one = cty.ObjectVal(map[string]cty.Value{"m": cty.StringVal("x")})

func TestOfBlock_ReadsWhatPeopleWrite(t *testing.T) {
	pair := cty.Object(map[string]cty.Type{"a": cty.String, "b": cty.Number})
	for _, c := range []struct {
		name, written string
		block         *schema.Block
		want          cty.Value
	}{
		{"a number in quotes", `{"m":"8080"}`, of(cty.Number), cty.NumberIntVal(8080)},
		{"a text without quotes", `{"m":8080}`, of(cty.String), cty.StringVal("8080")},
		{"a truth value in quotes", `{"m":"true"}`, of(cty.Bool), cty.True},
		{"all digits", `{"m":12345678901234567890123}`, of(cty.Number), cty.MustParseNumberVal("12345678901234567890123")},
		{"left out", `{}`, of(cty.String), cty.NullVal(cty.String)},
		{"null", `{"m":null}`, of(cty.List(cty.String)), cty.NullVal(cty.List(cty.String))},
		{"an empty list", `{"m":[]}`, of(cty.List(cty.String)), cty.ListValEmpty(cty.String)},
		{"a set, twice the same", `{"m":[2,1,2]}`, of(cty.Set(cty.Number)), cty.SetVal([]cty.Value{cty.NumberIntVal(1), cty.NumberIntVal(2)})},
		{"an object without all", `{"m":{"a":1}}`, of(pair), cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("1"), "b": cty.NullVal(cty.Number)})},
		{"objects in a list", `{"m":[{"b":1},{"a":"x"}]}`, of(cty.List(pair)), cty.ListVal([]cty.Value{
			cty.ObjectVal(map[string]cty.Value{"a": cty.NullVal(cty.String), "b": cty.NumberIntVal(1)}),
			cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("x"), "b": cty.NullVal(cty.Number)})})},
		{"anything", `{"m":[1,"x"]}`, of(cty.DynamicPseudoType), cty.TupleVal([]cty.Value{cty.NumberIntVal(1), cty.StringVal("x")})},
		{"an object for a list of one", `{"m":{"m":"x"}}`, block(nil, nested(schema.List)), cty.ListVal([]cty.Value{one})},
		{"an object for a set of one", `{"m":{"m":"x"}}`, block(nil, nested(schema.Set)), cty.SetVal([]cty.Value{one})},
		{"no blocks in a list", `{}`, block(nil, nested(schema.List)), cty.ListValEmpty(one.Type())},
		{"no blocks in a set", `{"m":null}`, block(nil, nested(schema.Set)), cty.SetValEmpty(one.Type())},
		{"no blocks by keys", `{}`, block(nil, nested(schema.Map)), cty.MapValEmpty(one.Type())},
		{"no single block", `{}`, block(nil, nested(schema.Single)), cty.NullVal(one.Type())},
		{"a group that is not written", `{}`, block(nil, nested(schema.Group)), cty.ObjectVal(map[string]cty.Value{"m": cty.NullVal(cty.String)})},
		{"a nested attribute that is not written", `{}`, block(&schema.Attribute{Nested: nested(schema.List), Type: nested(schema.List).Type()}, nil),
			cty.NullVal(cty.List(one.Type()))},
	} {
		t.Run(c.name, func(t *testing.T) {
			written, err := Decode([]byte(c.written))
			if err != nil {
				t.Fatal(err)
			}
			v, err := OfBlock(c.block, written, "")
			if err != nil {
				t.Fatal(err)
			}
			if got := v.GetAttr("m"); !got.RawEquals(c.want) {
				t.Errorf("it is %#v, and must be %#v", got, c.want)
			}
			if packed, err := Pack(v, c.block.Type()); err != nil {
				t.Error(err)
			} else if back, err := Unpack(packed, c.block.Type()); err != nil || !back.RawEquals(v) {
				t.Errorf("it comes back as %#v, %v", back, err)
			}
			raw, err := Raw(v, c.block.Type())
			if err != nil {
				t.Fatal(err)
			}
			if back, err := OfRaw(raw, c.block.Type()); err != nil || !back.RawEquals(v) {
				t.Errorf("remembered it is %#v, %v", back, err)
			}
		})
	}
}

func TestOfBlock_ReportsWhatIsWrongAndWhere(t *testing.T) {
	for _, c := range []struct {
		name, written, at string
		block             *schema.Block
	}{
		{"a name that is not known", `{"n":1}`, "/n", of(cty.String)},
		{"a name that is not known in an object", `{"m":{"z":1}}`, "/m/z", of(cty.Object(map[string]cty.Type{"a": cty.String}))},
		{"a text that is no number", `{"m":[1,"x"]}`, "/m/1", of(cty.List(cty.Number))},
		{"a list for a text", `{"m":[]}`, "/m", of(cty.String)},
		{"a text for blocks", `{"m":"x"}`, "/m", block(nil, nested(schema.List))},
		{"a list for blocks with keys", `{"m":[]}`, "/m", block(nil, nested(schema.Map))},
		{"an object that is no block", `{"m":[{"m":"x"},"x"]}`, "/m/1", block(nil, nested(schema.Set))},
	} {
		t.Run(c.name, func(t *testing.T) {
			written, err := Decode([]byte(c.written))
			if err != nil {
				t.Fatal(err)
			}
			_, err = OfBlock(c.block, written, "")
			var w *Wrong
			if !errors.As(err, &w) || w.Pointer != c.at || w.Message == "" {
				t.Errorf("%#v", err)
			}
		})
	}
}

func TestJSON_KeepsAllDigitsAndReportsNothingOfWhatIsNotKnown(t *testing.T) {
	v := cty.ObjectVal(map[string]cty.Value{"n": cty.MustParseNumberVal("12345678901234567890.5"), "u": cty.UnknownVal(cty.String),
		"s": cty.SetVal([]cty.Value{cty.StringVal("b"), cty.StringVal("a")}), "e": cty.ListValEmpty(cty.String)})
	text, err := json.Marshal(JSON(v))
	if want := `{"e":[],"n":12345678901234567890.5,"s":["a","b"],"u":null}`; err != nil || string(text) != want {
		t.Errorf("%s, %v; must be %s", text, err, want)
	}
}

func TestJSON_WritesNumbersAsShortAsTheyAre(t *testing.T) {
	for _, text := range []string{"0", "7", "-7", "1000000", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "0.1", "-2.5", "1000000000000000000000000"} {
		if got := JSON(cty.MustParseNumberVal(text)); got != json.Number(text) {
			t.Errorf("%s is written as %v", text, got)
		}
	}
}
