package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// instanceValue gives a resource as far as it is wanted: its config is
// evaluated, and its state read, only for those that look there.
func (e *evaluator) instanceValue(i *instance, wants []want) (cty.Value, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	attrs := map[string]cty.Value{"name": cty.StringVal(i.Address), "type": cty.DynamicVal}
	if i.TypeRef != "" {
		attrs["type"] = cty.StringVal(i.TypeRef)
	}
	var inState []want
	for _, w := range wants {
		attr := ""
		if len(w.steps) > 0 {
			attr = objectKey(w.steps[0])
			w.steps = w.steps[1:]
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

// stateValue gives the state of a resource as far as it is known: where a
// reference looks for something that an incomplete state does not have, there
// is an unknown value.
func (e *evaluator) stateValue(address string, wants []want) (cty.Value, hcl.Diagnostics) {
	known := e.scope[address]
	if known.Known == nil {
		steps := make([]hcl.Traversal, len(wants))
		for i, w := range wants {
			steps[i] = w.steps
		}
		return e.stateType(address).unknown(nonEmpty(steps)), nil
	}
	base, ok := e.states[address]
	if !ok {
		var err error
		if base, err = fromJSON(known.Known); err != nil {
			return cty.DynamicVal, hcl.Diagnostics{failure(wants[0].at, "Unreadable state", "The state of %s cannot be read: %s.", address, err)}
		}
		base = markState(base, known.Sensitive)
		e.states[address] = base
	}
	if known.Complete {
		return base, nil
	}
	for _, w := range wants {
		if len(w.steps) == 0 { // the state itself: all of it may still change
			return unknownLike(base), nil
		}
		base = reveal(base, w.steps, w.open, e.stateType(address))
	}
	return base, nil
}

// reveal puts an unknown value at the first step that an incomplete value does
// not have.
func reveal(v cty.Value, steps hcl.Traversal, open bool, typ stateType) cty.Value {
	plain, marks := v.Unmark()
	return revealPlain(plain, steps, open, typ).WithMarks(marks)
}

func revealPlain(v cty.Value, steps hcl.Traversal, open bool, typ stateType) cty.Value {
	if !v.IsKnown() {
		return v
	}
	if v.IsNull() || len(steps) == 0 {
		if len(steps) > 0 || open && !v.Type().IsPrimitiveType() {
			return unknownLike(v)
		}
		return v
	}
	switch t := v.Type(); {
	case t.IsObjectType():
		name := objectKey(steps[0])
		if name == "" {
			return v
		}
		attrs := v.AsValueMap()
		if attrs == nil {
			attrs = map[string]cty.Value{}
		}
		below, possible := typ.at(name)
		if child, ok := attrs[name]; ok {
			attrs[name] = reveal(child, steps[1:], open, below)
		} else if possible {
			attrs[name] = below.unknown(nonEmpty([]hcl.Traversal{steps[1:]}))
		}
		return cty.ObjectVal(attrs)
	case t.IsTupleType():
		i, ok := tupleIndex(steps[0])
		if !ok {
			return v
		}
		items := v.AsValueSlice()
		if i >= len(items) {
			return unknownLike(v)
		}
		items[i] = reveal(items[i], steps[1:], open, anyState)
		return cty.TupleVal(items)
	}
	return v // a step into text or a number: an error when it is evaluated
}

func objectKey(step hcl.Traverser) string {
	switch s := step.(type) {
	case hcl.TraverseAttr:
		return s.Name
	case hcl.TraverseIndex:
		if key, err := convert.Convert(s.Key, cty.String); err == nil && key.IsKnown() && !key.IsNull() {
			return key.AsString()
		}
	}
	return ""
}

func tupleIndex(step hcl.Traverser) (int, bool) {
	s, ok := step.(hcl.TraverseIndex)
	if !ok {
		return 0, false
	}
	key, err := convert.Convert(s.Key, cty.Number)
	if err != nil || !key.IsKnown() || key.IsNull() {
		return 0, false
	}
	i, _ := key.AsBigFloat().Int64()
	return int(i), i >= 0
}
