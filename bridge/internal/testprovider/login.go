package testprovider

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"deployster/bridge/internal/schema"
	"deployster/bridge/internal/tfplugin/tfplugin6"
	"deployster/bridge/internal/value"
)

// Login is the ephemeral resource of the provider: a password for a user, which lasts a second unless it is renewed.
const Login = "test_login"

// Refused is a user for whom no login is opened, and Empty one whose login has no password.
const (
	Refused = "refused"
	Empty   = "empty"
)

func loginSchema() *tfplugin6.Schema {
	port := flagged("port", "computed")
	port.Type = []byte(`"number"`)
	return &tfplugin6.Schema{Block: &tfplugin6.Schema_Block{Attributes: []*tfplugin6.Schema_Attribute{flagged("user", "required"),
		flagged("password", "secret"), port}}}
}

// login returns the type of a login and its values in a message.
func login(packed *tfplugin6.DynamicValue) (cty.Value, error) {
	known, err := schema.Read6(&tfplugin6.GetProviderSchema_Response{EphemeralResourceSchemas: map[string]*tfplugin6.Schema{
		Login: loginSchema()}})
	if err != nil {
		return cty.NilVal, err
	}
	return value.Unpack(packed, known.Ephemeral[Login].Block.Type())
}

func (p *Provider) validateLogin(in *tfplugin6.ValidateEphemeralResourceConfig_Request) (proto.Message, error) {
	v, err := login(in.GetConfig())
	if err != nil {
		return nil, err
	}
	return &tfplugin6.ValidateEphemeralResourceConfig_Response{}, p.write("ValidateEphemeralResourceConfig", in.GetTypeName(),
		named{"config", v})
}

func (p *Provider) openLogin(in *tfplugin6.OpenEphemeralResource_Request) (proto.Message, error) {
	v, err := login(in.GetConfig())
	if err != nil {
		return nil, err
	}
	user := v.GetAttr("user").AsString()
	if user == Refused {
		return &tfplugin6.OpenEphemeralResource_Response{Diagnostics: []*tfplugin6.Diagnostic{{Severity: tfplugin6.Diagnostic_ERROR,
			Summary: "No such user"}}}, nil
	}
	result := map[string]cty.Value{"user": v.GetAttr("user"), "password": cty.StringVal("pass-word-of-" + user),
		"port": cty.NumberIntVal(5432)}
	if user == Empty {
		result["password"] = cty.NullVal(cty.String)
	}
	out := &tfplugin6.OpenEphemeralResource_Response{Private: []byte("lease of " + user), RenewAt: soon()}
	if out.Result, err = value.Pack(cty.ObjectVal(result), v.Type()); err != nil {
		return nil, err
	}
	return out, errors.Join(p.write("OpenEphemeralResource", in.GetTypeName(), named{"config", v}), p.tell("opened", user))
}

// soon is when a login is to be renewed.
func soon() *timestamppb.Timestamp { return timestamppb.New(time.Now().Add(time.Second)) }

func (p *Provider) renewLogin(in *tfplugin6.RenewEphemeralResource_Request) (proto.Message, error) {
	private := string(in.GetPrivate())
	if !strings.HasPrefix(private, "lease of ") {
		return nil, errors.New("it was not opened here")
	}
	out := &tfplugin6.RenewEphemeralResource_Response{RenewAt: soon(),
		Private: []byte(strings.TrimSuffix(private, ", renewed") + ", renewed")}
	return out, errors.Join(p.write("RenewEphemeralResource", in.GetTypeName(), named{"private", cty.StringVal(private)}),
		p.tell("renewed", private))
}

func (p *Provider) closeLogin(in *tfplugin6.CloseEphemeralResource_Request) (proto.Message, error) {
	private := string(in.GetPrivate())
	if !strings.HasPrefix(private, "lease of ") {
		return nil, errors.New("it was not opened here")
	}
	return &tfplugin6.CloseEphemeralResource_Response{}, errors.Join(p.write("CloseEphemeralResource", in.GetTypeName(),
		named{"private", cty.StringVal(private)}), p.tell("closed", private))
}

// tell has the world of the provider know what was done, if it has one.
func (p *Provider) tell(what, private string) error {
	if p.world == "" {
		return nil
	}
	answer, err := http.Post(p.world+"/"+what, "text/plain", strings.NewReader(private))
	if err != nil {
		return err
	}
	return answer.Body.Close()
}
