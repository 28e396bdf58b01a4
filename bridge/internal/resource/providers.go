package resource

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/zclconf/go-cty/cty"

	"deployster/bridge/internal/plugin"
	"deployster/bridge/internal/schema"
	"deployster/bridge/internal/tfplugin/tfplugin5"
	"deployster/bridge/internal/tfplugin/tfplugin6"
	"deployster/bridge/internal/value"
	"deployster/protocol"
)

// chains is how many resources one process of a provider handles at a time, unless this is
// set.
const chains = 10

// Providers has the processes of one provider, one for each config. It is safe for
// concurrent use.
type Providers struct {
	Path     string // of the binary
	Parallel int    // how many resources one process handles at a time; 0 = chains
	Plugs    string // files and directories of the host that it may get, as in NAME=PATH:rw,NAME=PATH
	// Thrown are the directories whose files are thrown away with the container: no action may leave any there.
	Thrown []string

	thrownOnce sync.Once
	thrown     *thrownAway // of Thrown, without the plugs

	mu    sync.Mutex
	open  map[string]*provider // by the JSON of its config
	known *schema.Provider     // the schemas, as the first process has reported them; nil = none was queried
}

// provider is a process that has its config, or will get it.
type provider struct {
	mu      sync.Mutex // held while it is started
	process *plugin.Process
	schemas *schema.Provider
	env     []string // in addition to the bridge's own
	free    chan struct{}
	refused refused

	changes changes
	plans   plans
}

// refused has the error with which a config was last refused, and its time.
type refused struct {
	err error
	at  time.Time
}

// refusedFor is how long a refused config is not tried again: otherwise every resource with
// that config would try it, and a service that refuses a login may not accept that many attempts.
const refusedFor = 10 * time.Second

// Close stops all processes.
func (p *Providers) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.open {
		if one.process != nil {
			one.process.Stop()
		}
	}
}

// thrownAway returns what finds files that are thrown away.
func (p *Providers) thrownAway() *thrownAway {
	p.thrownOnce.Do(func() { p.thrown = &thrownAway{dirs: p.Thrown} })
	return p.thrown
}

// Describe returns the schemas of the provider. If no process has reported them yet, it
// starts one, queries it, and stops it.
func (p *Providers) Describe(ctx context.Context) (*schema.Provider, error) {
	p.mu.Lock()
	known := p.known
	p.mu.Unlock()
	if known != nil {
		return known, nil
	}
	process, err := plugin.Start(ctx, p.Path, nil)
	if err != nil {
		return nil, err
	}
	defer process.Stop()
	return p.schemas(ctx, process)
}

// schemas queries a process for its schemas, which many providers need as their first call.
// All processes run the same program: only the first response is decoded.
func (p *Providers) schemas(ctx context.Context, process *plugin.Process) (*schema.Provider, error) {
	read, err := askSchemas(ctx, process)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		if p.known, err = read(); err == nil && len(p.known.Resources) <= fewKinds && os.Getenv("GOGC") == "" {
			debug.SetGCPercent(400) // there is little live memory, so collecting it less often costs little
		}
	}
	return p.known, err
}

// fewKinds is the maximum number of kinds of a provider whose schemas take little memory.
const fewKinds = 200

func askSchemas(ctx context.Context, process *plugin.Process) (read func() (*schema.Provider, error), err error) {
	if process.Protocol == 5 {
		var out tfplugin5.GetProviderSchema_Response
		if err := process.Call(ctx, "GetProviderSchema", &tfplugin5.GetProviderSchema_Request{}, &out); err != nil {
			return nil, err
		}
		return func() (*schema.Provider, error) { return schema.Read5(&out) }, problem(raised(out.GetDiagnostics()), "", io.Discard)
	}
	var out tfplugin6.GetProviderSchema_Response
	if err := process.Call(ctx, "GetProviderSchema", &tfplugin6.GetProviderSchema_Request{}, &out); err != nil {
		return nil, err
	}
	return func() (*schema.Provider, error) { return schema.Read6(&out) }, problem(out.GetDiagnostics(), "", io.Discard)
}

// take returns the process with a config; done releases it. A verbose invocation gets a
// separate process with a more detailed log, which only one invocation at a time receives.
func (p *Providers) take(ctx context.Context, config any, verbose bool, log io.Writer) (one *provider, done func(), err error) {
	key, err := json.Marshal(config)
	if err != nil {
		return nil, nil, err
	}
	if verbose {
		key = append(key, " verbose"...)
	}
	p.mu.Lock()
	if p.open == nil {
		p.open = map[string]*provider{}
	}
	if one = p.open[string(key)]; one == nil {
		one = &provider{free: make(chan struct{}, cmp.Or(p.Parallel, chains))}
		if verbose && os.Getenv(logVariable) == "" {
			one.env = []string{logVariable + "=INFO"}
		}
		p.open[string(key)] = one
	}
	p.mu.Unlock()
	select {
	case one.free <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	done = func() { <-one.free }
	if err := p.start(ctx, one, config, log); err != nil {
		done()
		return nil, nil, err
	}
	if verbose {
		free, unheard := done, one.process.Follow(log)
		return one, func() { unheard(); free() }, nil
	}
	return one, done, nil
}

// logVariable is the environment variable for the level of a provider's log.
const logVariable = "TF_LOG"

// start starts the process and gives it its config, unless it runs already.
func (p *Providers) start(ctx context.Context, o *provider, config any, log io.Writer) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if ended := o.changes.stopped(); ended != nil {
		select {
		case <-ended:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		o.process.Stop()
		o.changes.begin()
	}
	if o.process != nil && o.process.Alive() {
		return nil
	}
	if o.refused.err != nil && time.Since(o.refused.at) < refusedFor {
		return o.refused.err
	}
	process, err := plugin.Start(ctx, p.Path, o.env)
	if err != nil {
		return err
	}
	known, err := p.schemas(ctx, process)
	if err == nil {
		err = configure(ctx, process, known, config, log)
		var died *plugin.Died
		if o.refused = (refused{}); err != nil && ctx.Err() == nil && !errors.As(err, &died) {
			o.refused = refused{err, time.Now()}
		}
	}
	if err != nil {
		process.Stop()
		return err
	}
	o.process, o.schemas = process, known
	o.plans.forget()
	return nil
}

func configure(ctx context.Context, process *plugin.Process, known *schema.Provider, config any, log io.Writer) error {
	if config == nil {
		config = map[string]any{}
	}
	v, err := value.OfBlock(known.Config.Block, config, "/provider")
	if err != nil {
		return wrongConfig(err)
	}
	packed, err := value.Pack(v, known.Config.Block.Type())
	if err != nil {
		return err
	}
	var valid tfplugin6.ValidateProviderConfig_Response
	if err := process.Call(ctx, "ValidateProviderConfig", &tfplugin6.ValidateProviderConfig_Request{Config: packed}, &valid); err != nil {
		return err
	}
	if err := problem(valid.GetDiagnostics(), "/provider", log); err != nil {
		return err
	}
	var out tfplugin6.ConfigureProvider_Response
	in := &tfplugin6.ConfigureProvider_Request{TerraformVersion: "1.11.4", Config: packed, ClientCapabilities: capabilities()}
	if err := process.Call(ctx, "ConfigureProvider", in, &out); err != nil {
		return err
	}
	return problem(out.GetDiagnostics(), "/provider", log)
}

func capabilities() *tfplugin6.ClientCapabilities {
	return &tfplugin6.ClientCapabilities{WriteOnlyAttributesAllowed: true}
}

// problem returns the first error of a provider, nil for none; warnings go to the log. An
// error that names an attribute, or comes with a place in the config, is a ConfigError at
// that place.
func problem(list []*tfplugin6.Diagnostic, at string, log io.Writer) error {
	var first error
	for _, d := range list {
		text := d.GetSummary()
		if d.GetDetail() != "" {
			text += ": " + d.GetDetail()
		}
		text = withPlug(text)
		if d.GetSeverity() != tfplugin6.Diagnostic_ERROR {
			_, _ = fmt.Fprintln(log, "Warning:", text)
			continue
		}
		if first != nil {
			_, _ = fmt.Fprintln(log, text)
			continue
		}
		switch where := pointer(d.GetAttribute()); {
		case where != "" || at != "":
			first = protocol.Errorf(protocol.ConfigError, at+where, "%s", text)
		default:
			first = errors.New(text)
		}
	}
	return first
}

// raised converts diagnostics of protocol 5 to protocol 6, without their attributes.
func raised(list []*tfplugin5.Diagnostic) (six []*tfplugin6.Diagnostic) {
	for _, d := range list {
		six = append(six, &tfplugin6.Diagnostic{Severity: tfplugin6.Diagnostic_Severity(d.GetSeverity()), Summary: d.GetSummary(),
			Detail: d.GetDetail()})
	}
	return six
}

func pointer(p *tfplugin6.AttributePath) (at string) {
	for _, step := range p.GetSteps() {
		switch s := step.GetSelector().(type) {
		case *tfplugin6.AttributePath_Step_AttributeName:
			at += "/" + s.AttributeName
		case *tfplugin6.AttributePath_Step_ElementKeyString:
			at += "/" + s.ElementKeyString
		case *tfplugin6.AttributePath_Step_ElementKeyInt:
			at += fmt.Sprintf("/%d", s.ElementKeyInt)
		}
	}
	return at
}

// wrongConfig converts a value.Wrong to a ConfigError.
func wrongConfig(err error) error {
	var w *value.Wrong
	if errors.As(err, &w) {
		return protocol.Errorf(protocol.ConfigError, w.Pointer, "%s", w.Message)
	}
	return err
}

// at returns the value at a path; false = the path does not exist.
func at(v cty.Value, p *tfplugin6.AttributePath) (cty.Value, bool) {
	for _, step := range p.GetSteps() {
		if v.IsNull() || !v.IsKnown() {
			return v, true
		}
		t, key := v.Type(), cty.NilVal
		switch s := step.GetSelector().(type) {
		case *tfplugin6.AttributePath_Step_AttributeName:
			if t.IsObjectType() && t.HasAttribute(s.AttributeName) {
				v = v.GetAttr(s.AttributeName)
				continue
			}
			return v, false
		case *tfplugin6.AttributePath_Step_ElementKeyString:
			key = cty.StringVal(s.ElementKeyString)
		case *tfplugin6.AttributePath_Step_ElementKeyInt:
			key = cty.NumberIntVal(s.ElementKeyInt)
		}
		if !t.IsListType() && !t.IsMapType() && !t.IsTupleType() || !v.HasIndex(key).True() {
			return v, false
		}
		v = v.Index(key)
	}
	return v, true
}
