package testprovider

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// Request is one recorded request.
type Request struct {
	Call, Kind, Label string
	Values            map[string]string
}

// named is a value of a request.
type named struct {
	name  string
	value cty.Value
}

// write records a request with a single write, so that other processes may write too.
func (p *Provider) write(call, kind string, values ...named) error {
	if p.record == nil {
		return nil
	}
	r := Request{Call: call, Kind: kind, Values: map[string]string{}}
	for _, v := range values {
		if t := v.value.Type(); t.IsObjectType() && t.HasAttribute("label") && !v.value.IsNull() && r.Label == "" {
			r.Label = v.value.GetAttr("label").AsString()
		}
		r.Values[v.name] = Show(v.value)
	}
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = p.record.Write(append(line, '\n'))
	return err
}

// Show returns a value as text: values that differ, even if only in their type, have different texts.
func Show(v cty.Value) string {
	t := v.Type()
	switch {
	case !v.IsKnown():
		return "unknown"
	case v.IsNull():
		return "null"
	case t == cty.String:
		return fmt.Sprintf("%q", v.AsString())
	case t == cty.Number:
		return v.AsBigFloat().Text('g', -1)
	case t == cty.Bool:
		return fmt.Sprint(v.True())
	case t.IsObjectType() || t.IsMapType():
		var parts []string
		inner := v.AsValueMap()
		for _, key := range slices.Sorted(maps.Keys(inner)) {
			parts = append(parts, key+"="+Show(inner[key]))
		}
		if t.IsMapType() {
			return "map{" + strings.Join(parts, " ") + "}"
		}
		return "{" + strings.Join(parts, " ") + "}"
	}
	var parts []string
	for _, inner := range v.AsValueSlice() {
		parts = append(parts, Show(inner))
	}
	switch {
	case t.IsSetType():
		slices.Sort(parts)
		return "set(" + strings.Join(parts, " ") + ")"
	case t.IsTupleType():
		return "tuple(" + strings.Join(parts, " ") + ")"
	}
	return "[" + strings.Join(parts, " ") + "]"
}
