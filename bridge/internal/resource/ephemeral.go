package resource

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/types/known/timestamppb"

	"deployster/bridge/internal/schema"
	"deployster/bridge/internal/tfplugin/tfplugin6"
	"deployster/bridge/internal/value"
	"deployster/protocol"
)

// ephemeralPrefix is the prefix of the kinds that are ephemeral resources: images of secret blocks.
const ephemeralPrefix = "ephemeral."

// SecretInput is what an image of a secret block reads.
type SecretInput struct {
	protocol.InitInput
	Config  json.RawMessage `json:"config"`
	Lease   *Lease          `json:"lease"`
	Request string          `json:"request"` // what to do with the lease: "renew" or "close"; "" = open
}

// Lease is what a provider needs to renew and to close what it has opened.
type Lease struct {
	Private []byte `json:"private,omitempty"`
}

// SecretAnswer is what it prints.
type SecretAnswer struct {
	Value string     `json:"value,omitempty"`
	Lease *Lease     `json:"lease,omitempty"`
	Renew *time.Time `json:"renew,omitempty"`
}

// attributeKey returns the key of the config for the attribute that is the value.
func attributeKey(s *schema.Schema) string {
	if s.Block.Attributes["attribute"] != nil || s.Block.Blocks["attribute"] != nil {
		return "result_attribute"
	}
	return "attribute"
}

// SecretInit is the answer to init of an ephemeral resource.
type SecretInit struct {
	Protocol     int              `json:"protocol"`
	Label        string           `json:"label"`
	Secret       protocol.Command `json:"secret"`
	ConfigSchema json.RawMessage  `json:"config_schema"`
}

// InitSecret answers the init step of an ephemeral resource. is = false: the kind is another one, which Init knows, or reports.
func (p *Providers) InitSecret(ctx context.Context, in protocol.InitInput) (a SecretInit, is bool, err error) {
	name, is := strings.CutPrefix(Kind(in.Type), ephemeralPrefix)
	if !is {
		return a, false, nil
	}
	known, err := p.Describe(ctx)
	if err != nil || known.Ephemeral[name] == nil {
		return a, err != nil, err
	}
	s := known.Ephemeral[name]
	config := s.Block.ForConfig()
	properties, _ := config["properties"].(map[string]any)
	addProvider(known, properties)
	properties[attributeKey(s)] = map[string]any{"type": "string",
		"description": "The attribute of the result that is the value. Without it the value is the whole result, as JSON."}
	a = SecretInit{Protocol: protocol.MaxVersion, Label: Kind(in.Type), Secret: protocol.Command{Args: []string{"secret"}}}
	large := false
	if a.ConfigSchema, large, err = schema.Shared(config); large {
		a.Label += ", whose schema is too large: only its provider checks what it is given"
	}
	return a, true, err
}

// Secret opens an ephemeral resource, renews it, or closes it.
func (p *Providers) Secret(ctx context.Context, in SecretInput, log io.Writer) (a SecretAnswer, err error) {
	read, err := value.Decode(in.Config)
	if err != nil {
		return a, err
	}
	config, ok := read.(map[string]any)
	if !ok {
		return a, fmt.Errorf("the config is not an object")
	}
	config = maps.Clone(config)
	providerConfig := config["provider"]
	delete(config, "provider")
	one, done, err := p.take(ctx, providerConfig, in.Verbose, log)
	if err != nil {
		return a, err
	}
	defer done()
	e := ephemeral{provider: one, kind: strings.TrimPrefix(Kind(in.Type), ephemeralPrefix), log: log}
	if e.schema = one.schemas.Ephemeral[e.kind]; e.schema == nil {
		return a, fmt.Errorf("the provider has no ephemeral resource %s", e.kind)
	}
	switch {
	case in.Request == "":
		return e.open(ctx, config)
	case in.Lease == nil:
		return a, fmt.Errorf("%s: there is no lease in the input", in.Request)
	case in.Request == "renew":
		return e.renew(ctx, *in.Lease)
	case in.Request == "close":
		return a, e.close(ctx, *in.Lease)
	}
	return a, fmt.Errorf("the request %q is not known", in.Request)
}

// ephemeral is an ephemeral resource in one invocation.
type ephemeral struct {
	*provider
	kind   string
	schema *schema.Schema
	log    io.Writer
}

// open opens it, and returns its value. What cannot be returned is closed again.
func (e ephemeral) open(ctx context.Context, config map[string]any) (a SecretAnswer, err error) {
	key := attributeKey(e.schema)
	attribute, _ := config[key].(string)
	delete(config, key)
	if attribute != "" && e.schema.Block.Attributes[attribute] == nil {
		return a, fmt.Errorf("%s has no attribute %q: name another one with %s", e.kind, attribute, key)
	}
	v, err := value.OfBlock(e.schema.Block, config, "")
	if err != nil {
		return a, wrongConfig(err)
	}
	packed, err := value.Pack(v, e.schema.Block.Type())
	if err != nil {
		return a, err
	}
	var valid tfplugin6.ValidateEphemeralResourceConfig_Response
	check := &tfplugin6.ValidateEphemeralResourceConfig_Request{TypeName: e.kind, Config: packed}
	if err := e.process.Call(ctx, "ValidateEphemeralResourceConfig", check, &valid); err != nil {
		return a, err
	}
	if err := problem(valid.GetDiagnostics(), "", e.log); err != nil {
		return a, err
	}
	var out tfplugin6.OpenEphemeralResource_Response
	in := &tfplugin6.OpenEphemeralResource_Request{TypeName: e.kind, Config: packed, ClientCapabilities: capabilities()}
	if err := e.process.Call(ctx, "OpenEphemeralResource", in, &out); err != nil {
		return a, err
	}
	if err := problem(out.GetDiagnostics(), "", e.log); err != nil {
		return a, err
	}
	if out.GetDeferred() != nil {
		return a, fmt.Errorf("the provider cannot open %s yet (%s)", e.kind, out.GetDeferred().GetReason())
	}
	a.Lease, a.Renew = &Lease{Private: out.GetPrivate()}, timeOf(out.GetRenewAt())
	result, err := value.Unpack(out.GetResult(), e.schema.Block.Type())
	if err == nil {
		a.Value, err = textOf(result, attribute)
	}
	if err != nil {
		if closed := e.close(ctx, *a.Lease); closed != nil {
			_, _ = fmt.Fprintln(e.log, "it could not be closed:", closed)
		}
		return SecretAnswer{}, err
	}
	return a, nil
}

// textOf returns an attribute of a result, or the whole result, as text: JSON unless it is text itself.
func textOf(result cty.Value, attribute string) (string, error) {
	if attribute != "" {
		result = result.GetAttr(attribute)
	}
	switch {
	case result.IsNull() || !result.IsWhollyKnown():
		return "", fmt.Errorf("the result has no value in %q", attribute)
	case result.Type() == cty.String:
		return result.AsString(), nil
	}
	text, err := json.Marshal(value.JSON(result))
	return string(text), err
}

func timeOf(t *timestamppb.Timestamp) *time.Time {
	if t == nil {
		return nil
	}
	at := t.AsTime()
	return &at
}

// renew renews it. Without another private value the one that it has stays.
func (e ephemeral) renew(ctx context.Context, l Lease) (a SecretAnswer, err error) {
	var out tfplugin6.RenewEphemeralResource_Response
	in := &tfplugin6.RenewEphemeralResource_Request{TypeName: e.kind, Private: l.Private}
	if err := e.process.Call(ctx, "RenewEphemeralResource", in, &out); err != nil {
		return a, err
	}
	if out.Private != nil {
		l.Private = out.Private
	}
	return SecretAnswer{Lease: &l, Renew: timeOf(out.GetRenewAt())}, problem(out.GetDiagnostics(), "", e.log)
}

func (e ephemeral) close(ctx context.Context, l Lease) error {
	var out tfplugin6.CloseEphemeralResource_Response
	in := &tfplugin6.CloseEphemeralResource_Request{TypeName: e.kind, Private: l.Private}
	if err := e.process.Call(ctx, "CloseEphemeralResource", in, &out); err != nil {
		return err
	}
	return problem(out.GetDiagnostics(), "", e.log)
}
