package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"deployster/bridge/internal/tfplugin/tfplugin5"
	"deployster/bridge/internal/tfplugin/tfplugin6"
)

// attribute is one of a type, with flags.
func attribute(name, typ string, flags ...func(*tfplugin6.Schema_Attribute)) *tfplugin6.Schema_Attribute {
	a := &tfplugin6.Schema_Attribute{Name: name, Type: []byte(typ)}
	for _, flag := range flags {
		flag(a)
	}
	return a
}

func required(a *tfplugin6.Schema_Attribute)  { a.Required = true }
func optional(a *tfplugin6.Schema_Attribute)  { a.Optional = true }
func computed(a *tfplugin6.Schema_Attribute)  { a.Computed = true }
func sensitive(a *tfplugin6.Schema_Attribute) { a.Sensitive = true }
func writeOnly(a *tfplugin6.Schema_Attribute) { a.WriteOnly = true }

func nested(name string, mode int32, minItems int64, inner ...*tfplugin6.Schema_Attribute) *tfplugin6.Schema_NestedBlock {
	return &tfplugin6.Schema_NestedBlock{TypeName: name, Nesting: tfplugin6.Schema_NestedBlock_NestingMode(mode), MinItems: minItems,
		Block: &tfplugin6.Schema_Block{Attributes: inner}}
}

// read reads a block as protocol 6 says it.
func read(t *testing.T, b *tfplugin6.Schema_Block) *Block {
	t.Helper()
	p, err := Read6(&tfplugin6.GetProviderSchema_Response{Provider: &tfplugin6.Schema{Block: b}})
	if err != nil {
		t.Fatal(err)
	}
	return p.Config.Block
}

// What people may write, and what a state is, of one attribute or block.
func TestSchemas_OfOneMember(t *testing.T) {
	text := `"string"`
	inner := attribute("a", text, optional)
	attributes := func(list ...*tfplugin6.Schema_Attribute) *tfplugin6.Schema_Block {
		return &tfplugin6.Schema_Block{Attributes: list}
	}
	blocks := func(list ...*tfplugin6.Schema_NestedBlock) *tfplugin6.Schema_Block {
		return &tfplugin6.Schema_Block{BlockTypes: list}
	}
	object := attribute("m", "", optional)
	object.Type, object.NestedType = nil, &tfplugin6.Schema_Object{Nesting: 4, Attributes: []*tfplugin6.Schema_Attribute{attribute("a", text, sensitive, optional)}}
	const scalar, one = `"type":["string","number","boolean"]`, `{"additionalProperties":false,"properties":{"a":{"type":["string","number","boolean","null"]}},"type":"object"}`
	const stated = `{"additionalProperties":false,"properties":{"a":{"type":["string","null"]}},"required":["a"],"type":"object"}`
	const oneOrNull = `{"additionalProperties":false,"properties":{"a":{"type":["string","number","boolean","null"]}},"type":["object","null"]}`
	for _, c := range []struct {
		name          string
		block         *tfplugin6.Schema_Block
		config, state string // of the member m; "" when nobody may write it
		required      bool
	}{
		{"required", attributes(attribute("m", text, required)), `{` + scalar + `}`, `{"type":"string"}`, true},
		{"optional", attributes(attribute("m", text, optional)), `{"type":["string","number","boolean","null"]}`, `{"type":["string","null"]}`, false},
		{"chosen or written", attributes(attribute("m", text, optional, computed)), `{"type":["string","number","boolean","null"]}`, `{"type":["string","null"]}`, false},
		{"computed", attributes(attribute("m", text, computed)), ``, `{"type":["string","null"]}`, false},
		{"sensitive", attributes(attribute("m", text, required, sensitive)), `{` + scalar + `,"writeOnly":true}`, `{"type":"string","writeOnly":true}`, true},
		{"write-only", attributes(attribute("m", text, required, writeOnly)), `{` + scalar + `,"writeOnly":true,"x-unrecorded":true}`,
			`{"type":["string","null"],"writeOnly":true,"x-unrecorded":true}`, true},
		{"dynamic", attributes(attribute("m", `"dynamic"`, optional)), `{}`, `{}`, false},
		{"set of numbers", attributes(attribute("m", `["set","number"]`, required)),
			`{"items":{"type":["string","number","boolean","null"]},"type":"array"}`, `{"items":{"type":["number","null"]},"type":"array"}`, true},
		{"map of texts", attributes(attribute("m", `["map","string"]`, required)),
			`{"additionalProperties":{"type":["string","number","boolean","null"]},"type":"object"}`, `{"additionalProperties":{"type":["string","null"]},"type":"object"}`, true},
		{"nested attribute", attributes(object), `{"additionalProperties":{"additionalProperties":false,"properties":{"a":{"type":["string","number","boolean","null"],"writeOnly":true}},"type":"object"},"type":["object","null"]}`,
			`{"additionalProperties":{"additionalProperties":false,"properties":{"a":{"type":["string","null"],"writeOnly":true}},"required":["a"],"type":"object"},"type":["object","null"]}`, false},
		{"block that may be there", blocks(nested("m", 1, 0, inner)), oneOrNull,
			`{"additionalProperties":false,"properties":{"a":{"type":["string","null"]}},"required":["a"],"type":["object","null"]}`, false},
		{"list of blocks, one at least", blocks(nested("m", 2, 1, inner)), `{"anyOf":[{"items":` + one + `,"type":"array"},` + one + `]}`, `{"items":` + stated + `,"type":["array","null"]}`, true},
		{"set of blocks", blocks(nested("m", 3, 0, inner)), `{"anyOf":[{"anyOf":[{"items":` + one + `,"type":"array"},` + one + `]},{"type":"null"}]}`, `{"items":` + stated + `,"type":["array","null"]}`, false},
		{"blocks by their keys", blocks(nested("m", 4, 0, inner)), `{"additionalProperties":` + one + `,"type":["object","null"]}`, `{"additionalProperties":` + stated + `,"type":["object","null"]}`, false},
		{"group, which is always there", blocks(nested("m", 5, 1, inner)), oneOrNull,
			`{"additionalProperties":false,"properties":{"a":{"type":["string","null"]}},"required":["a"],"type":["object","null"]}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := read(t, c.block)
			config, state := b.ForConfig(), b.ForState()
			if got := member(t, config); got != c.config {
				t.Errorf("config:\n%s\nmust be\n%s", got, c.config)
			}
			if got := member(t, state); got != c.state {
				t.Errorf("state:\n%s\nmust be\n%s", got, c.state)
			}
			if _, must := config["required"]; must != c.required {
				t.Errorf("required: %v", config["required"])
			}
			if config["additionalProperties"] != false || state["additionalProperties"] != false {
				t.Error("what is not known is taken")
			}
		})
	}
}

// member is the schema of the member m, "" for none.
func member(t *testing.T, of map[string]any) string {
	t.Helper()
	properties, ok := of["properties"].(map[string]any)
	if !ok {
		t.Fatal("no properties")
	}
	m, there := properties["m"]
	if !there {
		return ""
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRead5_KnowsWhatIsWriteOnly(t *testing.T) {
	p, err := Read5(&tfplugin5.GetProviderSchema_Response{Provider: &tfplugin5.Schema{Block: &tfplugin5.Schema_Block{}},
		ResourceSchemas: map[string]*tfplugin5.Schema{"k": {Version: 4, Block: &tfplugin5.Schema_Block{
			Attributes: []*tfplugin5.Schema_Attribute{{Name: "m", Type: []byte(`"string"`), Optional: true, WriteOnly: true}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if k := p.Resources["k"]; k.Version != 4 || !k.Block.Attributes["m"].WriteOnly {
		t.Errorf("%+v", k.Block.Attributes["m"])
	}
}

func TestRead6_RefusesWhatItDoesNotKnow(t *testing.T) {
	for name, b := range map[string]*tfplugin6.Schema_Block{
		"a nesting": {BlockTypes: []*tfplugin6.Schema_NestedBlock{nested("m", 9, 0)}},
		"a type":    {Attributes: []*tfplugin6.Schema_Attribute{attribute("m", `"poem"`, optional)}},
	} {
		if _, err := Read6(&tfplugin6.GetProviderSchema_Response{Provider: &tfplugin6.Schema{Block: b}}); err == nil {
			t.Errorf("%s that is not known is taken", name)
		}
	}
}

// One set of messages serves both protocols where they are equal on the wire: where they
// are not is listed here, and is what Read5 reads apart.
func TestProtocols_AreEqualOnTheWire(t *testing.T) {
	differ := map[string]bool{}
	for five, six := range map[proto.Message]proto.Message{
		&tfplugin5.PrepareProviderConfig_Request{}:       &tfplugin6.ValidateProviderConfig_Request{},
		&tfplugin5.Configure_Request{}:                   &tfplugin6.ConfigureProvider_Request{},
		&tfplugin5.Configure_Response{}:                  &tfplugin6.ConfigureProvider_Response{},
		&tfplugin5.ValidateResourceTypeConfig_Request{}:  &tfplugin6.ValidateResourceConfig_Request{},
		&tfplugin5.ValidateResourceTypeConfig_Response{}: &tfplugin6.ValidateResourceConfig_Response{},
		&tfplugin5.ValidateDataSourceConfig_Request{}:    &tfplugin6.ValidateDataResourceConfig_Request{},
		&tfplugin5.ValidateDataSourceConfig_Response{}:   &tfplugin6.ValidateDataResourceConfig_Response{},
		&tfplugin5.UpgradeResourceState_Request{}:        &tfplugin6.UpgradeResourceState_Request{},
		&tfplugin5.UpgradeResourceState_Response{}:       &tfplugin6.UpgradeResourceState_Response{},
		&tfplugin5.ReadResource_Request{}:                &tfplugin6.ReadResource_Request{},
		&tfplugin5.ReadResource_Response{}:               &tfplugin6.ReadResource_Response{},
		&tfplugin5.PlanResourceChange_Request{}:          &tfplugin6.PlanResourceChange_Request{},
		&tfplugin5.PlanResourceChange_Response{}:         &tfplugin6.PlanResourceChange_Response{},
		&tfplugin5.ApplyResourceChange_Request{}:         &tfplugin6.ApplyResourceChange_Request{},
		&tfplugin5.ApplyResourceChange_Response{}:        &tfplugin6.ApplyResourceChange_Response{},
		&tfplugin5.ImportResourceState_Request{}:         &tfplugin6.ImportResourceState_Request{},
		&tfplugin5.ImportResourceState_Response{}:        &tfplugin6.ImportResourceState_Response{},
		&tfplugin5.ReadDataSource_Request{}:              &tfplugin6.ReadDataSource_Request{},
		&tfplugin5.ReadDataSource_Response{}:             &tfplugin6.ReadDataSource_Response{},
		&tfplugin5.Schema_Attribute{}:                    &tfplugin6.Schema_Attribute{},
	} {
		walk(five.ProtoReflect().Descriptor(), six.ProtoReflect().Descriptor(), map[protoreflect.FullName]bool{}, differ)
	}
	got := slices.Sorted(maps.Keys(differ))
	if want := []string{"Attribute.deprecation_message", "Attribute.write_only"}; !slices.Equal(got, want) {
		t.Errorf("the messages differ in %q, and must in %q only", got, want)
	}
}

// walk notes the fields of a message of protocol 5 that protocol 6 has elsewhere.
func walk(five, six protoreflect.MessageDescriptor, seen map[protoreflect.FullName]bool, differ map[string]bool) {
	if seen[five.FullName()] {
		return
	}
	seen[five.FullName()] = true
	for i := range five.Fields().Len() {
		f := five.Fields().Get(i)
		s := six.Fields().ByNumber(f.Number())
		if s == nil || s.Name() != f.Name() || s.Kind() != f.Kind() || s.Cardinality() != f.Cardinality() {
			differ[string(five.Name())+"."+string(f.Name())] = true
			continue
		}
		if f.Message() != nil {
			walk(f.Message(), s.Message(), seen, differ)
		}
	}
}
