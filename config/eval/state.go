package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/instance"
	"deployster/config/refs"
	"deployster/config/source"
	"deployster/config/values"
)

// InstanceValue returns the parts of a resource that wants lists: it evaluates the
// config, and reads the state, only if a reference needs it.
func (e *Evaluator) InstanceValue(i *instance.Instance, wants []Want) (cty.Value, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	attrs := map[string]cty.Value{"name": cty.StringVal(i.Address), "type": cty.DynamicVal}
	if i.TypeRef != "" {
		attrs["type"] = cty.StringVal(i.TypeRef)
	}
	var inState []Want
	for _, w := range wants {
		attr := ""
		if len(w.Steps) > 0 {
			attr = refs.ObjectKey(w.Steps[0])
			w.Steps = w.Steps[1:]
		}
		if attr == "" || attr == "config" {
			v, d := e.configValue(i)
			attrs["config"], diags = v, append(diags, d...)
		}
		if attr == "" || attr == "state" {
			inState = append(inState, w)
		}
	}
	if len(inState) > 0 {
		v, d := e.stateValue(i.Address, inState)
		attrs["state"], diags = v, append(diags, d...)
	}
	return cty.ObjectVal(attrs), diags
}

// stateValue returns the state of a resource as far as it is known: a value that a
// reference reads and that an incomplete state does not have is unknown.
func (e *Evaluator) stateValue(address string, wants []Want) (cty.Value, hcl.Diagnostics) {
	known := e.scope[address]
	if known.Known == nil {
		steps := make([]hcl.Traversal, len(wants))
		for i, w := range wants {
			steps[i] = w.Steps
		}
		return e.stateType(address).Unknown(values.NonEmpty(steps)), nil
	}
	base, ok := e.states[address]
	if !ok {
		var err error
		if base, err = values.FromJSON(known.Known); err != nil {
			return cty.DynamicVal, hcl.Diagnostics{source.Failure(wants[0].At, "Unreadable state", "The state of %s cannot be read: %s.",
				address, err)}
		}
		base = values.MarkMayChange(values.MakeUnknown(base, known.Unknown), known.MayChange)
		base = values.MarkState(base, known.Sensitive)
		put(&e.states, address, base)
	}
	if known.Complete {
		return base, nil
	}
	for _, w := range wants {
		switch {
		case len(w.Steps) == 0 && known.Expected: // each of its parts has a mark if it may change
			continue
		case len(w.Steps) == 0: // the state itself: all of it may still change
			return values.UnknownLike(base), nil
		}
		base = values.Reveal(base, w.Steps, w.Open, e.stateType(address))
	}
	return base, nil
}
