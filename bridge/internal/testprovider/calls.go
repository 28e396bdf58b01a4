package testprovider

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/proto"

	"deployster/bridge/internal/schema"
	"deployster/bridge/internal/tfplugin/tfplugin6"
	"deployster/bridge/internal/value"
)

// Labels with these prefixes make the provider fail, or behave differently.
const (
	Half    = "half-"  // it is created, and the call returns an error
	Nothing = "never-" // it is not created
	Vague   = "vague-" // it is created, but its revision stays unknown
	Leaves  = "file:"  // the rest is the path of a file, which is created too
)

// Imported is the revision of an imported object.
const Imported = "imported"

func (p *Provider) block(kind string) *schema.Block { return p.known.Resources[kind].Block }

// values reads several values of a type.
func values(t cty.Type, packed ...*tfplugin6.DynamicValue) ([]cty.Value, error) {
	out := make([]cty.Value, len(packed))
	for i, one := range packed {
		var err error
		if out[i], err = value.Unpack(one, t); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (p *Provider) validateProvider(in *tfplugin6.ValidateProviderConfig_Request) (proto.Message, error) {
	v, err := values(p.known.Config.Block.Type(), in.GetConfig())
	if err != nil {
		return nil, err
	}
	return &tfplugin6.ValidateProviderConfig_Response{}, p.write("ValidateProviderConfig", "", named{"config", v[0]})
}

func (p *Provider) configure(in *tfplugin6.ConfigureProvider_Request) (proto.Message, error) {
	v, err := values(p.known.Config.Block.Type(), in.GetConfig())
	if err != nil {
		return nil, err
	}
	if world := v[0].GetAttr("world"); !world.IsNull() {
		p.world = world.AsString()
	}
	return &tfplugin6.ConfigureProvider_Response{}, p.write("ConfigureProvider", "", named{"config", v[0]})
}

func (p *Provider) validate(in *tfplugin6.ValidateResourceConfig_Request) (proto.Message, error) {
	v, err := values(p.block(in.GetTypeName()).Type(), in.GetConfig())
	if err != nil {
		return nil, err
	}
	return &tfplugin6.ValidateResourceConfig_Response{}, p.write("ValidateResourceConfig", in.GetTypeName(), named{"config", v[0]})
}

func (p *Provider) validateData(in *tfplugin6.ValidateDataResourceConfig_Request) (proto.Message, error) {
	v, err := values(p.known.Data[in.GetTypeName()].Block.Type(), in.GetConfig())
	if err != nil {
		return nil, err
	}
	return &tfplugin6.ValidateDataResourceConfig_Response{}, p.write("ValidateDataResourceConfig", in.GetTypeName(), named{"config", v[0]})
}

func (p *Provider) readData(in *tfplugin6.ReadDataSource_Request) (proto.Message, error) {
	b := p.known.Data[in.GetTypeName()].Block
	v, err := values(b.Type(), in.GetConfig())
	if err != nil {
		return nil, err
	}
	if err := p.write("ReadDataSource", in.GetTypeName(), named{"config", v[0]}); err != nil {
		return nil, err
	}
	// Computed attributes that the config leaves out are chosen.
	filled := v[0].AsValueMap()
	for name, a := range b.Attributes {
		if a.Computed && filled[name].IsNull() {
			filled[name] = choose(a.Type, name)
		}
	}
	packed, err := value.Pack(cty.ObjectVal(filled), b.Type())
	return &tfplugin6.ReadDataSource_Response{State: packed}, err
}

// upgrade accepts a recorded state unchanged: the versions differ in their number only.
func (p *Provider) upgrade(in *tfplugin6.UpgradeResourceState_Request) (proto.Message, error) {
	t := p.block(in.GetTypeName()).Type()
	v, err := value.OfRaw(in.GetRawState().GetJson(), t)
	if err != nil {
		return nil, err
	}
	version := cty.NumberIntVal(in.GetVersion())
	if err := p.write("UpgradeResourceState", in.GetTypeName(), named{"raw", v}, named{"version", version}); err != nil {
		return nil, err
	}
	packed, err := value.Pack(v, t)
	return &tfplugin6.UpgradeResourceState_Response{UpgradedState: packed}, err
}

func (p *Provider) read(in *tfplugin6.ReadResource_Request) (proto.Message, error) {
	v, err := values(p.block(in.GetTypeName()).Type(), in.GetCurrentState())
	if err != nil {
		return nil, err
	}
	out := &tfplugin6.ReadResource_Response{NewState: in.GetCurrentState(), Private: in.GetPrivate()}
	if in.GetTypeName() == Object {
		found, err := p.readObject(v[0])
		if err == nil {
			out.NewState, err = value.Pack(found, found.Type())
		}
		if err != nil {
			return nil, err
		}
	}
	private := cty.StringVal(string(in.GetPrivate()))
	return out, p.write("ReadResource", in.GetTypeName(), named{"state", v[0]}, named{"private", private})
}

func (p *Provider) adopt(in *tfplugin6.ImportResourceState_Request) (proto.Message, error) {
	b := p.block(in.GetTypeName())
	attributes := map[string]cty.Value{}
	for name, t := range b.Type().AttributeTypes() {
		attributes[name] = cty.NullVal(t)
	}
	for name, n := range b.Blocks {
		if n.Mode == schema.List {
			attributes[name] = cty.ListValEmpty(n.Block.Type())
		}
	}
	attributes["label"], attributes["revision"] = cty.StringVal(in.GetId()), cty.StringVal(Imported)
	if in.GetTypeName() == Object {
		attributes["id"] = attributes["label"]
	}
	v := cty.ObjectVal(attributes)
	if err := p.write("ImportResourceState", in.GetTypeName(), named{"id", v}); err != nil {
		return nil, err
	}
	packed, err := value.Pack(v, b.Type())
	return &tfplugin6.ImportResourceState_Response{ImportedResources: []*tfplugin6.ImportResourceState_ImportedResource{
		{TypeName: in.GetTypeName(), State: packed, Private: []byte(Imported)}}}, err
}

func (p *Provider) plan(in *tfplugin6.PlanResourceChange_Request) (proto.Message, error) {
	b := p.block(in.GetTypeName())
	v, err := values(b.Type(), in.GetPriorState(), in.GetProposedNewState(), in.GetConfig())
	if err != nil {
		return nil, err
	}
	prior, proposed := v[0], v[1]
	planned := changer(withoutWriteOnly).block(b, proposed)
	if !proposed.IsNull() && !prior.RawEquals(planned) {
		attributes := changer(withUnknown).block(b, planned).AsValueMap()
		attributes["revision"] = cty.UnknownVal(cty.String)
		planned = cty.ObjectVal(attributes)
	}
	out := &tfplugin6.PlanResourceChange_Response{PlannedPrivate: append([]byte("planned "), in.GetPriorPrivate()...)}
	if !prior.IsNull() && !proposed.IsNull() {
		out.RequiresReplace = []*tfplugin6.AttributePath{{Steps: []*tfplugin6.AttributePath_Step{
			{Selector: &tfplugin6.AttributePath_Step_AttributeName{AttributeName: "anchor"}}}}}
	}
	if out.PlannedState, err = value.Pack(planned, b.Type()); err != nil {
		return nil, err
	}
	return out, p.write("PlanResourceChange", in.GetTypeName(), named{"prior", prior}, named{"proposed", proposed}, named{"config", v[2]},
		named{"private", cty.StringVal(string(in.GetPriorPrivate()))})
}

func (p *Provider) apply(in *tfplugin6.ApplyResourceChange_Request) (proto.Message, error) {
	b := p.block(in.GetTypeName())
	v, err := values(b.Type(), in.GetPriorState(), in.GetPlannedState(), in.GetConfig())
	if err != nil {
		return nil, err
	}
	prior, planned := v[0], v[1]
	if err := p.write("ApplyResourceChange", in.GetTypeName(), named{"prior", prior}, named{"planned", planned}, named{"config", v[2]},
		named{"private", cty.StringVal(string(in.GetPlannedPrivate()))}); err != nil {
		return nil, err
	}
	if in.GetTypeName() == Object {
		return p.applyObject(b, prior, planned)
	}
	out := &tfplugin6.ApplyResourceChange_Response{NewState: in.GetPlannedState()}
	if planned.IsNull() {
		return out, nil
	}
	out.Private = []byte("made")
	label := planned.GetAttr("label").AsString()
	if strings.HasPrefix(label, Nothing) {
		return nil, errors.New("it could not be made")
	}
	attributes := resolve(planned, moved(planned)).AsValueMap()
	attributes["revision"] = cty.StringVal("1")
	if !prior.IsNull() {
		if attributes["revision"] = prior.GetAttr("revision"); !prior.RawEquals(planned) {
			attributes["revision"] = cty.StringVal(prior.GetAttr("revision").AsString() + "+")
		}
	}
	if path, leaves := strings.CutPrefix(label, Leaves); leaves {
		if err := os.WriteFile(path, []byte(label), 0o600); err != nil {
			return &tfplugin6.ApplyResourceChange_Response{NewState: in.GetPriorState(), Diagnostics: []*tfplugin6.Diagnostic{
				{Severity: tfplugin6.Diagnostic_ERROR, Summary: "Cannot write", Detail: err.Error()}}}, nil
		}
	}
	if strings.HasPrefix(label, Vague) {
		attributes["revision"] = cty.UnknownVal(cty.String)
	}
	if out.NewState, err = value.Pack(cty.ObjectVal(attributes), b.Type()); err != nil {
		return nil, err
	}
	if strings.HasPrefix(label, Half) && prior.IsNull() {
		out.Diagnostics = []*tfplugin6.Diagnostic{{Severity: tfplugin6.Diagnostic_ERROR, Summary: "it is there, but not ready"}}
	}
	return out, nil
}

// moved returns the anchor of an object, on which chosen values depend.
func moved(v cty.Value) string {
	if anchor := v.GetAttr("anchor"); !anchor.IsNull() {
		return anchor.AsString()
	}
	return ""
}

// resolve chooses unknown values, depending on the key of the block around them.
func resolve(v cty.Value, hint string) cty.Value {
	t := v.Type()
	switch {
	case !v.IsKnown():
		return choose(t, hint)
	case v.IsNull() || t.IsPrimitiveType() || v.IsWhollyKnown():
		return v
	case t.IsObjectType():
		if t.HasAttribute("key") && v.GetAttr("key").IsKnown() && !v.GetAttr("key").IsNull() {
			hint += "/" + v.GetAttr("key").AsString()
		}
		out := v.AsValueMap()
		for name, inner := range out {
			out[name] = resolve(inner, hint+"."+name)
		}
		return cty.ObjectVal(out)
	case t.IsMapType():
		out := v.AsValueMap()
		for key, inner := range out {
			out[key] = resolve(inner, hint+"."+key)
		}
		return cty.MapVal(out)
	}
	var out []cty.Value
	for i, inner := range v.AsValueSlice() {
		if !t.IsSetType() {
			hint = fmt.Sprintf("%s[%d]", hint, i)
		}
		out = append(out, resolve(inner, hint))
	}
	switch {
	case t.IsSetType():
		return cty.SetVal(out)
	case t.IsListType():
		return cty.ListVal(out)
	}
	return cty.TupleVal(out)
}

// choose returns a value of a type.
func choose(t cty.Type, hint string) cty.Value {
	switch {
	case t == cty.String || t == cty.DynamicPseudoType:
		return cty.StringVal("chosen for " + hint)
	case t == cty.Number:
		return cty.NumberIntVal(int64(len(hint)))
	case t == cty.Bool:
		return cty.True
	case t.IsListType():
		return cty.ListVal([]cty.Value{choose(t.ElementType(), hint)})
	case t.IsSetType():
		return cty.SetVal([]cty.Value{choose(t.ElementType(), hint)})
	case t.IsMapType():
		return cty.MapVal(map[string]cty.Value{"k": choose(t.ElementType(), hint)})
	case t.IsTupleType():
		var out []cty.Value
		for _, inner := range t.TupleElementTypes() {
			out = append(out, choose(inner, hint))
		}
		return cty.TupleVal(out)
	}
	out := map[string]cty.Value{}
	for name, inner := range t.AttributeTypes() {
		out[name] = choose(inner, hint+"."+name)
	}
	return cty.ObjectVal(out)
}
