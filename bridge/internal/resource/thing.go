package resource

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"deployster/bridge/internal/propose"
	"deployster/bridge/internal/schema"
	"deployster/bridge/internal/tfplugin/tfplugin6"
	"deployster/bridge/internal/value"
	"deployster/protocol"
)

// Memory is the memory of a thing: the last state that its provider has reported, in
// full, with the version of the schema of that state.
type Memory struct {
	Kind    string          `json:"kind"`
	Version int64           `json:"version"`
	State   json.RawMessage `json:"state"`
	Private []byte          `json:"private,omitempty"`
	Tainted bool            `json:"tainted,omitempty"` // its creation has failed: it must be replaced
}

// thing is one resource in one invocation.
type thing struct {
	*provider
	name   string
	acts   bool // the invocation is an action, which carries out a plan
	kind   string
	schema *schema.Schema
	config cty.Value
	adopt  string // the id by which the thing is imported if there is no memory
	memory *Memory
	log    io.Writer
	thrown *thrownAway
}

// observed is the present state of a thing; state is null if it does not exist.
type observed struct {
	state   cty.Value
	private []byte
	tainted bool
}

// dataPrefix is the prefix of the kinds that are data sources.
const dataPrefix = "data."

// importKey returns the key of the config for the id to import.
func importKey(s *schema.Schema) string {
	if s.Block.Attributes["import"] != nil || s.Block.Blocks["import"] != nil {
		return "import_id"
	}
	return "import"
}

// Kind returns the part of a type after the #.
func Kind(reference string) string {
	_, kind, _ := strings.Cut(reference, "#")
	return kind
}

// openThing reads the input of an invocation, and takes a process with the provider's config.
func (p *Providers) openThing(ctx context.Context, in protocol.StateInput, log io.Writer) (*thing, func(), error) {
	read, err := value.Decode(in.Config)
	if err != nil {
		return nil, nil, err
	}
	value.Forget(read, in.Unknown)
	config, ok := read.(map[string]any)
	if !ok {
		return nil, nil, protocol.Errorf(protocol.ConfigError, "", "the config is not an object")
	}
	config = maps.Clone(config)
	providerConfig := config["provider"]
	delete(config, "provider")
	one, done, err := p.take(ctx, providerConfig, in.Verbose, log)
	if err != nil {
		return nil, nil, err
	}
	t := &thing{provider: one, name: in.Name, kind: Kind(in.Type), log: log, thrown: p.thrownAway()}
	if err := t.read(config, in); err != nil {
		done()
		return nil, nil, err
	}
	return t, done, nil
}

func (t *thing) read(config map[string]any, in protocol.StateInput) error {
	t.schema = t.schemas.Resources[t.kind]
	if name, data := strings.CutPrefix(t.kind, dataPrefix); data {
		t.kind, t.schema = name, t.schemas.Data[name]
	} else if t.schema != nil {
		key := importKey(t.schema)
		t.adopt, _ = config[key].(string)
		delete(config, key)
	}
	if t.schema == nil {
		return errors.New("the provider has no " + t.kind)
	}
	var err error
	switch t.config, err = value.OfBlock(t.schema.Block, config, ""); {
	case in.Intent == protocol.Absent: // the config may be of an older schema, and is not needed
		t.config = cty.NullVal(t.schema.Block.Type())
	case err != nil:
		return wrongConfig(err)
	}
	if len(in.Memory) == 0 {
		if wasThere(in) {
			t.adopt = ""
		}
		return nil
	}
	t.memory = &Memory{}
	if err := json.Unmarshal(in.Memory, t.memory); err != nil {
		return errors.New("the memory cannot be read: " + err.Error())
	}
	if t.memory.Version > t.schema.Version {
		return protocol.Errorf(protocol.ConfigError, "",
			"what is recorded was made by a newer provider, with version %d of the schema, and this one has %d: use that image",
			t.memory.Version, t.schema.Version)
	}
	return nil
}

// wasThere reports whether a thing without a memory existed before and no longer exists: then it
// is not searched by its id, unless another one may have been created since.
func wasThere(in protocol.StateInput) bool {
	return (len(in.LastState) > 0 || slices.Contains(in.After, deleteAction)) && !slices.Contains(in.Unsettled, createAction)
}

// observe reads the present state of a thing: from its memory, or by the id to import.
func (t *thing) observe(ctx context.Context) (observed, error) {
	ty := t.schema.Block.Type()
	o := observed{state: cty.NullVal(ty)}
	switch {
	case t.memory != nil:
		var out tfplugin6.UpgradeResourceState_Response
		in := &tfplugin6.UpgradeResourceState_Request{TypeName: t.kind, Version: t.memory.Version,
			RawState: &tfplugin6.RawState{Json: t.memory.State}}
		if err := t.process.Call(ctx, "UpgradeResourceState", in, &out); err != nil {
			return o, err
		}
		if err := problem(out.GetDiagnostics(), "", t.log); err != nil {
			return o, err
		}
		var err error
		if o.state, err = value.Unpack(out.GetUpgradedState(), ty); err != nil {
			return o, err
		}
		o.state = withoutWriteOnly(t.schema.Block, o.state)
		o.private, o.tainted = t.memory.Private, t.memory.Tainted
	case t.adopt != "":
		var out tfplugin6.ImportResourceState_Response
		in := &tfplugin6.ImportResourceState_Request{TypeName: t.kind, Id: t.adopt, ClientCapabilities: capabilities()}
		if err := t.process.Call(ctx, "ImportResourceState", in, &out); err != nil {
			return o, err
		}
		if err := problem(out.GetDiagnostics(), "", t.log); err != nil {
			return o, protocol.Errorf(protocol.ConfigError, "/"+importKey(t.schema), "%s. To create it, remove "+
				"%q", err, importKey(t.schema))
		}
		i := slices.IndexFunc(out.GetImportedResources(), func(r *tfplugin6.ImportResourceState_ImportedResource) bool {
			return r.GetTypeName() == t.kind
		})
		if i < 0 {
			return o, nil
		}
		var err error
		if o.state, err = value.Unpack(out.GetImportedResources()[i].GetState(), ty); err != nil {
			return o, err
		}
		o.private = out.GetImportedResources()[i].GetPrivate()
	default:
		return o, nil
	}
	return t.refresh(ctx, o)
}

// refresh has the provider read the thing.
func (t *thing) refresh(ctx context.Context, o observed) (observed, error) {
	ty := t.schema.Block.Type()
	packed, err := value.Pack(o.state, ty)
	if err != nil {
		return o, err
	}
	var out tfplugin6.ReadResource_Response
	in := &tfplugin6.ReadResource_Request{TypeName: t.kind, CurrentState: packed, Private: o.private, ClientCapabilities: capabilities()}
	if err := t.process.Call(ctx, "ReadResource", in, &out); err != nil {
		return o, err
	}
	if err := problem(out.GetDiagnostics(), "", t.log); err != nil {
		return o, err
	}
	if o.state, err = value.Unpack(out.GetNewState(), ty); err != nil {
		return o, err
	}
	o.state, o.private = withoutWriteOnly(t.schema.Block, o.state), out.GetPrivate()
	return o, nil
}

// planned is the plan of a provider.
type planned struct {
	state   cty.Value
	private []byte
	forces  map[string]bool // pointers to changed values that cannot be changed in place
	legacy  bool            // the provider may deviate from its plan
}

// plan returns what the provider would change in the prior state.
func (t *thing) plan(ctx context.Context, prior cty.Value, private []byte) (planned, error) {
	ty := t.schema.Block.Type()
	proposed := propose.New(t.schema.Block, prior, t.config)
	var in tfplugin6.PlanResourceChange_Request
	in.TypeName, in.PriorPrivate, in.ClientCapabilities = t.kind, private, capabilities()
	var err error
	for into, v := range map[**tfplugin6.DynamicValue]cty.Value{&in.PriorState: prior, &in.ProposedNewState: proposed,
		&in.Config: t.config} {
		if *into, err = value.Pack(v, ty); err != nil {
			return planned{}, err
		}
	}
	key := keyOf(t.name, &in)
	if made, there := t.plans.take(key); there && t.acts {
		return made, nil
	}
	var out tfplugin6.PlanResourceChange_Response
	if err := t.process.Call(ctx, "PlanResourceChange", &in, &out); err != nil {
		return planned{}, err
	}
	if err := problem(out.GetDiagnostics(), "", t.log); err != nil {
		return planned{}, err
	}
	p := planned{private: out.GetPlannedPrivate(), legacy: out.GetLegacyTypeSystem(), forces: map[string]bool{}}
	if p.state, err = value.Unpack(out.GetPlannedState(), ty); err != nil {
		return p, err
	}
	p.state = withoutWriteOnly(t.schema.Block, p.state)
	for _, path := range out.GetRequiresReplace() {
		was, there := at(prior, path)
		will, stays := at(p.state, path)
		if !prior.IsNull() && (!there || !stays || !was.RawEquals(will)) {
			p.forces[pointer(path)] = true
		}
	}
	if !t.acts {
		t.plans.keep(key, p)
	}
	return p, nil
}

// validate has the provider validate the config.
func (t *thing) validate(ctx context.Context) error {
	packed, err := value.Pack(t.config, t.schema.Block.Type())
	if err != nil {
		return err
	}
	var out tfplugin6.ValidateResourceConfig_Response
	in := &tfplugin6.ValidateResourceConfig_Request{TypeName: t.kind, Config: packed, ClientCapabilities: capabilities()}
	if err := t.process.Call(ctx, "ValidateResourceConfig", in, &out); err != nil {
		return err
	}
	return asConfig(problem(out.GetDiagnostics(), "", t.log))
}

// asConfig converts an error of validating the config to a ConfigError.
func asConfig(err error) error {
	var known *protocol.TypeError
	if err == nil || errors.As(err, &known) {
		return err
	}
	return protocol.Errorf(protocol.ConfigError, "", "%s", err)
}

// remember returns the memory for an observed state.
func (t *thing) remember(o observed) (json.RawMessage, error) {
	raw, err := value.Raw(o.state, t.schema.Block.Type())
	if err != nil {
		return nil, err
	}
	return json.Marshal(Memory{Kind: t.kind, Version: t.schema.Version, State: raw, Private: o.private, Tainted: o.tainted})
}
