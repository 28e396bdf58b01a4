package testprovider

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"deployster/bridge/internal/schema"
	"deployster/bridge/internal/tfplugin/tfplugin5"
	"deployster/bridge/internal/tfplugin/tfplugin6"
)

// Provider answers the calls of one process.
type Provider struct {
	protocol int
	kinds    map[string]*tfplugin6.Schema
	known    *schema.Provider
	config   *tfplugin6.Schema
	record   *os.File // nil: requests are not recorded
	world    string   // URL of the service with the objects of the kind Object
}

// Serve serves until the process ends. TEST_PROTOCOL is 5 or 6, TEST_VERSION the version of
// its schemas, TEST_RECORD the file for the requests.
func Serve() error {
	p, err := open()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "provider")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it has only the socket
	path := filepath.Join(dir, "socket")
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	server := grpc.NewServer(grpc.UnknownServiceHandler(p.handle), grpc.MaxRecvMsgSize(256<<20))
	if _, err := fmt.Printf("1|%d|unix|%s|grpc|\n", p.protocol, path); err != nil {
		return err
	}
	return server.Serve(l)
}

func open() (*Provider, error) {
	p := &Provider{protocol: 6, kinds: map[string]*tfplugin6.Schema{}, config: &tfplugin6.Schema{Block: &tfplugin6.Schema_Block{
		Attributes: []*tfplugin6.Schema_Attribute{flagged("region", "optional"), flagged("token", "sensitive"),
			flagged("world", "optional")},
		BlockTypes: []*tfplugin6.Schema_NestedBlock{{TypeName: "endpoint", Nesting: tfplugin6.Schema_NestedBlock_LIST,
			Block: &tfplugin6.Schema_Block{Attributes: []*tfplugin6.Schema_Attribute{flagged("url", "optional")}}}}}}}
	if os.Getenv("TEST_PROTOCOL") == "5" {
		p.protocol = 5
	}
	var version int64
	if v := os.Getenv("TEST_VERSION"); v != "" {
		if err := json.Unmarshal([]byte(v), &version); err != nil {
			return nil, fmt.Errorf("TEST_VERSION is not a number: %w", err)
		}
	}
	for _, k := range Kinds() {
		if k.Six && p.protocol == 5 {
			continue
		}
		k.Schema.Version = version
		p.kinds[k.Name] = k.Schema
	}
	p.kinds[Object] = objectSchema()
	var err error
	if p.known, err = schema.Read6(p.schemas()); err != nil {
		return nil, err
	}
	if path := os.Getenv("TEST_RECORD"); path != "" {
		p.record, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	}
	return p, err
}

func (p *Provider) schemas() *tfplugin6.GetProviderSchema_Response {
	return &tfplugin6.GetProviderSchema_Response{Provider: p.config, ResourceSchemas: p.kinds,
		DataSourceSchemas:        map[string]*tfplugin6.Schema{Data: p.kinds[Data]},
		EphemeralResourceSchemas: map[string]*tfplugin6.Schema{Login: loginSchema()},
		ServerCapabilities:       &tfplugin6.ServerCapabilities{PlanDestroy: os.Getenv("TEST_PLAN_DESTROY") != ""}}
}

// call is one call: the request is read into in, and answer answers it.
type call struct {
	in     proto.Message
	answer func() (proto.Message, error)
}

// handle answers a call of either protocol, whose messages are equal on the wire except
// for the schemas.
func (p *Provider) handle(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	name := method[strings.LastIndexByte(method, '/')+1:]
	if strings.HasPrefix(method, "/plugin.GRPCController/") {
		os.Exit(0) // the client signalled it to end
	}
	if level := os.Getenv("TF_LOG"); level != "" {
		_, _ = fmt.Fprintf(os.Stderr, "%s: %s was called\n", level, name) // a log
	}
	c, known := p.calls()[name]
	if !known {
		return status.Error(codes.Unimplemented, method)
	}
	if err := stream.RecvMsg(c.in); err != nil {
		return err
	}
	out, err := c.answer()
	if err != nil {
		out = failed(c.in, err)
	}
	return stream.SendMsg(out)
}

// fives maps names of calls in protocol 5 to those in protocol 6.
var fives = map[string]string{
	"PrepareProviderConfig": "ValidateProviderConfig", "ValidateResourceTypeConfig": "ValidateResourceConfig",
	"ValidateDataSourceConfig": "ValidateDataResourceConfig", "Configure": "ConfigureProvider", "Stop": "StopProvider",
}

// calling returns the call for a request and the function that answers it.
func calling[In proto.Message](in In, answer func(In) (proto.Message, error)) call {
	return call{in, func() (proto.Message, error) { return answer(in) }}
}

func (p *Provider) calls() map[string]call {
	all := map[string]call{
		"GetSchema": calling(&emptypb.Empty{}, func(*emptypb.Empty) (proto.Message, error) { return lowered(p.schemas()), nil }),
		"GetProviderSchema": calling(&tfplugin6.GetProviderSchema_Request{},
			func(*tfplugin6.GetProviderSchema_Request) (proto.Message, error) { return p.schemas(), nil }),
		"StopProvider": calling(&tfplugin6.StopProvider_Request{},
			func(*tfplugin6.StopProvider_Request) (proto.Message, error) {
				return &tfplugin6.StopProvider_Response{}, p.write("StopProvider", "")
			}),
		"ValidateProviderConfig":     calling(&tfplugin6.ValidateProviderConfig_Request{}, p.validateProvider),
		"ConfigureProvider":          calling(&tfplugin6.ConfigureProvider_Request{}, p.configure),
		"ValidateResourceConfig":     calling(&tfplugin6.ValidateResourceConfig_Request{}, p.validate),
		"ValidateDataResourceConfig": calling(&tfplugin6.ValidateDataResourceConfig_Request{}, p.validateData),
		"UpgradeResourceState":       calling(&tfplugin6.UpgradeResourceState_Request{}, p.upgrade),
		"ReadResource":               calling(&tfplugin6.ReadResource_Request{}, p.read),
		"PlanResourceChange":         calling(&tfplugin6.PlanResourceChange_Request{}, p.plan),
		"ApplyResourceChange":        calling(&tfplugin6.ApplyResourceChange_Request{}, p.apply),
		"ImportResourceState":        calling(&tfplugin6.ImportResourceState_Request{}, p.adopt),
		"ReadDataSource":             calling(&tfplugin6.ReadDataSource_Request{}, p.readData),

		"ValidateEphemeralResourceConfig": calling(&tfplugin6.ValidateEphemeralResourceConfig_Request{}, p.validateLogin),
		"OpenEphemeralResource":           calling(&tfplugin6.OpenEphemeralResource_Request{}, p.openLogin),
		"RenewEphemeralResource":          calling(&tfplugin6.RenewEphemeralResource_Request{}, p.renewLogin),
		"CloseEphemeralResource":          calling(&tfplugin6.CloseEphemeralResource_Request{}, p.closeLogin),
	}
	for five, six := range fives {
		all[five] = all[six]
	}
	return all
}

// failed returns a response with an error.
func failed(in proto.Message, err error) proto.Message {
	d := []*tfplugin6.Diagnostic{{Severity: tfplugin6.Diagnostic_ERROR, Summary: err.Error()}}
	switch in.(type) {
	case *tfplugin6.ConfigureProvider_Request:
		return &tfplugin6.ConfigureProvider_Response{Diagnostics: d}
	case *tfplugin6.PlanResourceChange_Request:
		return &tfplugin6.PlanResourceChange_Response{Diagnostics: d}
	case *tfplugin6.ApplyResourceChange_Request:
		return &tfplugin6.ApplyResourceChange_Response{Diagnostics: d}
	case *tfplugin6.ImportResourceState_Request:
		return &tfplugin6.ImportResourceState_Response{Diagnostics: d}
	case *tfplugin6.UpgradeResourceState_Request:
		return &tfplugin6.UpgradeResourceState_Response{Diagnostics: d}
	}
	return &tfplugin6.ReadResource_Response{Diagnostics: d}
}

// Run serves until the process ends, and returns its exit code.
func Run() int {
	if err := Serve(); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// lowered converts schemas to protocol 5.
func lowered(six *tfplugin6.GetProviderSchema_Response) *tfplugin5.GetProviderSchema_Response {
	out := &tfplugin5.GetProviderSchema_Response{Provider: lower(six.GetProvider()), ResourceSchemas: map[string]*tfplugin5.Schema{},
		DataSourceSchemas: map[string]*tfplugin5.Schema{}, EphemeralResourceSchemas: map[string]*tfplugin5.Schema{},
		ServerCapabilities: &tfplugin5.ServerCapabilities{PlanDestroy: six.GetServerCapabilities().GetPlanDestroy()}}
	for name, s := range six.GetResourceSchemas() {
		out.ResourceSchemas[name] = lower(s)
	}
	for name, s := range six.GetDataSourceSchemas() {
		out.DataSourceSchemas[name] = lower(s)
	}
	for name, s := range six.GetEphemeralResourceSchemas() {
		out.EphemeralResourceSchemas[name] = lower(s)
	}
	return out
}

func lower(s *tfplugin6.Schema) *tfplugin5.Schema {
	return &tfplugin5.Schema{Version: s.GetVersion(), Block: lowerBlock(s.GetBlock())}
}

func lowerBlock(b *tfplugin6.Schema_Block) *tfplugin5.Schema_Block {
	out := &tfplugin5.Schema_Block{}
	for _, a := range b.GetAttributes() {
		out.Attributes = append(out.Attributes, &tfplugin5.Schema_Attribute{Name: a.GetName(), Type: a.GetType(), Required: a.GetRequired(),
			Optional: a.GetOptional(), Computed: a.GetComputed(), Sensitive: a.GetSensitive(), WriteOnly: a.GetWriteOnly()})
	}
	for _, n := range b.GetBlockTypes() {
		out.BlockTypes = append(out.BlockTypes, &tfplugin5.Schema_NestedBlock{TypeName: n.GetTypeName(), Block: lowerBlock(n.GetBlock()),
			Nesting: tfplugin5.Schema_NestedBlock_NestingMode(n.GetNesting()), MinItems: n.GetMinItems(), MaxItems: n.GetMaxItems()})
	}
	return out
}
