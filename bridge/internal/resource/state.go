package resource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"deployster/bridge/internal/plugin"
	"deployster/bridge/internal/tfplugin/tfplugin6"
	"deployster/bridge/internal/value"
	"deployster/protocol"
)

// State answers whether a thing matches its config. If the provider ends unexpectedly,
// State tries once more with another process.
func (p *Providers) State(ctx context.Context, in protocol.StateInput, log io.Writer) (protocol.StateAnswer, error) {
	answer, err := p.state(ctx, in, log)
	var died *plugin.Died
	if errors.As(err, &died) && ctx.Err() == nil {
		_, _ = fmt.Fprintf(log, "%s. Trying again.\n", died)
		answer, err = p.state(ctx, in, log)
	}
	if errors.As(err, &died) && ctx.Err() == nil {
		return answer, protocol.Errorf(protocol.BugError, "", "%s", died)
	}
	return answer, err
}

func (p *Providers) state(ctx context.Context, in protocol.StateInput, log io.Writer) (protocol.StateAnswer, error) {
	if strings.HasPrefix(Kind(in.Type), dataPrefix) && in.Intent == protocol.Absent {
		return protocol.StateAnswer{Status: protocol.Missing}, nil
	}
	t, done, err := p.openThing(ctx, in, log)
	if err != nil {
		return protocol.StateAnswer{}, err
	}
	defer done()
	switch {
	case strings.HasPrefix(Kind(in.Type), dataPrefix):
		return t.lookUp(ctx)
	case in.Intent == protocol.Absent:
		return t.absent(ctx, in)
	}
	return t.present(ctx, in)
}

// lookUp answers for a data source.
func (t *thing) lookUp(ctx context.Context) (protocol.StateAnswer, error) {
	ty := t.schema.Block.Type()
	packed, err := value.Pack(t.config, ty)
	if err != nil {
		return protocol.StateAnswer{}, err
	}
	var valid tfplugin6.ValidateDataResourceConfig_Response
	check := &tfplugin6.ValidateDataResourceConfig_Request{TypeName: t.kind, Config: packed}
	if err := t.process.Call(ctx, "ValidateDataResourceConfig", check, &valid); err != nil {
		return protocol.StateAnswer{}, err
	}
	if err := asConfig(problem(valid.GetDiagnostics(), "", t.log)); err != nil {
		return protocol.StateAnswer{}, err
	}
	var out tfplugin6.ReadDataSource_Response
	in := &tfplugin6.ReadDataSource_Request{TypeName: t.kind, Config: packed, ClientCapabilities: capabilities()}
	if err := t.process.Call(ctx, "ReadDataSource", in, &out); err != nil {
		return protocol.StateAnswer{}, err
	}
	if err := problem(out.GetDiagnostics(), "", t.log); err != nil {
		return protocol.StateAnswer{}, err
	}
	v, err := value.Unpack(out.GetState(), ty)
	if err != nil {
		return protocol.StateAnswer{}, err
	}
	state, err := json.Marshal(value.JSON(v))
	return protocol.StateAnswer{Status: protocol.Valid, State: state}, err
}

// look reads the thing. If a creation was begun and the memory leads to no thing, look
// searches by the id to import; without such an id, or if nothing has it, it is unknown
// whether the thing exists. That is an error, since no second one must be created.
func (t *thing) look(ctx context.Context, in protocol.StateInput) (observed, error) {
	o, err := t.observe(ctx)
	if err != nil || !o.state.IsNull() || !slices.Contains(in.Unsettled, createAction) {
		return o, err
	}
	const begun = "its creation was started, and its outcome is unknown. "
	key := importKey(t.schema)
	if t.adopt == "" {
		return o, protocol.Errorf(protocol.UnsettledError, "", begun+
			"Check whether it exists; if so, adopt it with %s = \"its id\" in the config", key)
	}
	if t.memory != nil { // the memory is not of the thing to import
		t.memory = nil
		o, err = t.observe(ctx)
	}
	if err == nil && o.state.IsNull() {
		err = protocol.Errorf(protocol.UnsettledError, "", begun+
			"Nothing has the id of %s = %q. Check whether it exists; if so, adopt it with its id", key, t.adopt)
	}
	return o, err
}

func (t *thing) absent(ctx context.Context, in protocol.StateInput) (protocol.StateAnswer, error) {
	if t.memory == nil && slices.Contains(in.After, deleteAction) { // it is not searched by the id to import
		return protocol.StateAnswer{Status: protocol.Missing}, nil
	}
	o, err := t.look(ctx, in)
	switch {
	case err != nil:
		return protocol.StateAnswer{}, err
	case o.state.IsNull():
		return protocol.StateAnswer{Status: protocol.Missing}, nil
	}
	return t.stale(o, protocol.StateAnswer{Actions: []protocol.Action{action(deleteAction, "Destroy the "+t.kind, "")}})
}

func (t *thing) present(ctx context.Context, in protocol.StateInput) (protocol.StateAnswer, error) {
	if len(in.After) > 0 && t.memory != nil && !t.memory.Tainted {
		return t.justMade()
	}
	o, err := t.look(ctx, in)
	if err == nil && o.state.IsNull() && t.memory == nil && t.adopt != "" { // the id is mistyped, most likely
		key := importKey(t.schema)
		err = protocol.Errorf(protocol.ConfigError, "/"+key, "nothing has the id %q. Correct it; to create it, remove %q", t.adopt, key)
	}
	if err == nil {
		err = t.validate(ctx)
	}
	if err != nil {
		return protocol.StateAnswer{}, err
	}
	c, err := t.change(ctx, o)
	switch {
	case err != nil:
		return protocol.StateAnswer{}, err
	case c.none():
		return t.valid(o)
	}
	answer := protocol.StateAnswer{Reasons: c.reasons(t.schema.Block), Unknown: c.unknown(t.schema.Block)}
	if answer.Forecast, answer.MayDiffer, err = c.forecast(t.schema.Block); err != nil {
		return answer, err
	}
	answer.Actions = c.actions(t.kind, t.schema.Block)
	if c.replaces && len(in.Unknown) > 0 { // so it is destroyed before its dependencies are replaced
		answer.ShutdownFirst, answer.Actions = &answer.Actions[0], answer.Actions[1:]
	}
	return t.stale(o, answer)
}

// justMade answers right after actions of this apply, from the memory that they have reported.
func (t *thing) justMade() (protocol.StateAnswer, error) {
	ty := t.schema.Block.Type()
	if !ty.HasDynamicTypes() { // its JSON is the same in the memory and for people
		return protocol.StateAnswer{Status: protocol.Valid, State: t.memory.State}, nil
	}
	v, err := value.OfRaw(t.memory.State, ty)
	if err != nil {
		return protocol.StateAnswer{}, err
	}
	state, err := json.Marshal(value.JSON(v))
	return protocol.StateAnswer{Status: protocol.Valid, State: state}, err
}

func (t *thing) valid(o observed) (protocol.StateAnswer, error) {
	state, err := json.Marshal(value.JSON(o.state))
	if err != nil {
		return protocol.StateAnswer{}, err
	}
	memory, err := t.remember(o)
	return protocol.StateAnswer{Status: protocol.Valid, State: state, Memory: memory}, err
}

// stale completes an answer with the present state, if the thing exists.
func (t *thing) stale(o observed, answer protocol.StateAnswer) (protocol.StateAnswer, error) {
	answer.Status = protocol.Stale
	if o.state.IsNull() {
		return answer, nil
	}
	var err error
	if answer.StaleState, err = json.Marshal(value.JSON(o.state)); err != nil {
		return answer, err
	}
	answer.Memory, err = t.remember(o)
	return answer, err
}

// change returns the change that a thing needs. A thing that was not created properly, or
// that cannot be changed in place, is planned as if it did not exist.
func (t *thing) change(ctx context.Context, o observed) (*change, error) {
	nothing := cty.NullVal(t.schema.Block.Type())
	c := &change{from: o.state, tainted: o.tainted}
	var err error
	if o.tainted && !o.state.IsNull() {
		c.replaces = true
		c.to, err = t.plan(ctx, nothing, nil)
		return c, err
	}
	if c.to, err = t.plan(ctx, o.state, o.private); err != nil || len(c.to.forces) == 0 {
		return c, err
	}
	forces := c.to.forces
	c.replaces = true
	c.to, err = t.plan(ctx, nothing, c.to.private)
	c.to.forces = forces
	return c, err
}
