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

	"deployster/bridge/internal/tfplugin/tfplugin6"
	"deployster/bridge/internal/value"
	"deployster/protocol"
)

// Act carries out an action. It returns the new memory, null for none; nil if the result
// of the action is unknown.
func (p *Providers) Act(ctx context.Context, in protocol.ActionInput, name, digest string, log io.Writer) (json.RawMessage, error) {
	if name == createAction {
		in.Memory = nil // the new thing does not exist yet; the memory is of an earlier one
	}
	t, done, err := p.openThing(ctx, in.StateInput, log)
	if err != nil {
		return before(in), err
	}
	defer done()
	t.acts = true
	o := observed{state: cty.NullVal(t.schema.Block.Type())}
	if t.memory != nil {
		// The memory has the state that the state step has seen: it is not read again.
		if o.state, err = value.OfRaw(t.memory.State, t.schema.Block.Type()); err != nil {
			return before(in), err
		}
		o.state = withoutWriteOnly(t.schema.Block, o.state)
		o.private, o.tainted = t.memory.Private, t.memory.Tainted
	}
	if name == deleteAction {
		return t.destroy(ctx, in, o)
	}
	c, err := t.change(ctx, o)
	if err != nil {
		return before(in), err
	}
	if c.replaces || c.digest(t.schema.Block) != digest {
		return before(in), fmt.Errorf("the provider would do something else than the plan showed: plan again")
	}
	return t.apply(ctx, in, o, c.to)
}

// before returns the memory from before an action that has done nothing.
func before(in protocol.ActionInput) json.RawMessage {
	if len(in.Memory) == 0 {
		return json.RawMessage("null")
	}
	return in.Memory
}

// destroy removes the thing. If the provider supports planning this, it plans the removal
// too, except in a replacement, where it has planned the creation.
func (t *thing) destroy(ctx context.Context, in protocol.ActionInput, o observed) (json.RawMessage, error) {
	if o.state.IsNull() {
		return json.RawMessage("null"), nil
	}
	t.config = cty.NullVal(t.schema.Block.Type())
	p := planned{state: t.config, private: o.private}
	if t.schemas.PlanDestroy && in.Intent == protocol.Absent {
		var err error
		if p, err = t.plan(ctx, o.state, o.private); err != nil {
			return before(in), err
		}
	}
	return t.apply(ctx, in, o, p)
}

// apply has the provider carry out its plan. The call is never cancelled: the provider
// would continue unseen.
func (t *thing) apply(ctx context.Context, in protocol.ActionInput, o observed, p planned) (json.RawMessage, error) {
	ty := t.schema.Block.Type()
	req := tfplugin6.ApplyResourceChange_Request{TypeName: t.kind, PlannedPrivate: p.private}
	var err error
	for into, v := range map[**tfplugin6.DynamicValue]cty.Value{&req.PriorState: o.state, &req.PlannedState: p.state,
		&req.Config: t.config} {
		if *into, err = value.Pack(v, ty); err != nil {
			return before(in), err
		}
	}
	var out tfplugin6.ApplyResourceChange_Response
	flight := t.thrown.begin()
	err = t.execute(ctx, &req, &out)
	left := t.thrown.end(ctx, flight, string(out.GetNewState().GetMsgpack())+string(out.GetNewState().GetJson()))
	switch {
	case errors.Is(err, errStopping):
		return before(in), err // the thing is unchanged
	case err != nil:
		return nil, err
	}
	failed := problem(out.GetDiagnostics(), "", t.log)
	if failed == nil && in.Intent != protocol.Absent {
		failed = left
	}
	state, err := value.Unpack(out.GetNewState(), ty)
	if err != nil {
		return nil, err
	}
	state = withoutWriteOnly(t.schema.Block, state)
	switch {
	case state.IsNull() && failed != nil && !o.state.IsNull():
		return before(in), failed // the next read shows whether the thing still exists
	case state.IsNull():
		return json.RawMessage("null"), failed
	case !state.IsWhollyKnown(): // the known parts are still recorded
		failed = errors.Join(failed, fmt.Errorf("the provider does not know %s after creating it, which is a fault in the provider",
			strings.Join(notKnown(state), ", ")))
		state = cty.UnknownAsNull(state)
	case failed == nil && !out.GetLegacyTypeSystem() && !kept(p.state, state):
		failed = fmt.Errorf("the provider created something else than it planned, which is a fault in the provider")
	}
	memory, err := t.remember(observed{state: state, private: out.GetPrivate(), tainted: failed != nil && (o.tainted || o.state.IsNull())})
	if err != nil {
		return nil, err
	}
	return memory, failed
}

// notKnown returns the attributes and blocks of a state that have an unknown part, sorted.
func notKnown(state cty.Value) (names []string) {
	for name, v := range state.AsValueMap() {
		if !v.IsWhollyKnown() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// kept reports whether the new state equals the planned one, as far as that was known.
func kept(planned, made cty.Value) bool {
	switch {
	case !planned.IsKnown():
		return true
	case planned.IsNull() || made.IsNull() || planned.IsWhollyKnown():
		return planned.RawEquals(made)
	case planned.Type().IsSetType():
		return planned.LengthInt() >= made.LengthInt()
	case !planned.Type().Equals(made.Type()) && !planned.Type().HasDynamicTypes():
		return false
	case planned.Type().IsObjectType() || planned.Type().IsMapType():
		have := made.AsValueMap()
		for key, v := range planned.AsValueMap() {
			if h, there := have[key]; !there || !kept(v, h) {
				return false
			}
		}
		return true
	case planned.CanIterateElements():
		want, have := planned.AsValueSlice(), made.AsValueSlice()
		for i := range want {
			if i >= len(have) || !kept(want[i], have[i]) {
				return false
			}
		}
		return len(want) == len(have)
	}
	return true
}
