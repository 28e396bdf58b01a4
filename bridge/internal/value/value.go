package value

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/msgpack"

	ctyjson "github.com/zclconf/go-cty/cty/json"

	"deployster/bridge/internal/schema"
	"deployster/bridge/internal/tfplugin/tfplugin6"
)

// Wrong is an error in a config.
type Wrong struct {
	Pointer, Message string
}

func (e *Wrong) Error() string { return e.Pointer + ": " + e.Message }

func wrong(at, format string, args ...any) error {
	return &Wrong{Pointer: at, Message: fmt.Sprintf(format, args...)}
}

// Decode reads a JSON document, and keeps all digits of its numbers.
func Decode(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

// OfBlock converts the config of a block to a value; at is the JSON pointer of the block.
func OfBlock(b *schema.Block, written any, at string) (cty.Value, error) {
	if written == (Unknown{}) {
		return cty.UnknownVal(b.Type()), nil
	}
	object, ok := written.(map[string]any)
	if !ok {
		return cty.NilVal, wrong(at, "must be an object")
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if b.Attributes[name] == nil && b.Blocks[name] == nil {
			return cty.NilVal, wrong(at+"/"+name, "the provider does not know it")
		}
	}
	values := map[string]cty.Value{}
	var err error
	for name, a := range b.Attributes {
		if values[name], err = ofAttribute(a, object[name], at+"/"+name); err != nil {
			return cty.NilVal, err
		}
	}
	for name, n := range b.Blocks {
		if values[name], err = ofNested(n, object[name], at+"/"+name, true); err != nil {
			return cty.NilVal, err
		}
	}
	return cty.ObjectVal(values), nil
}

func ofAttribute(a *schema.Attribute, written any, at string) (cty.Value, error) {
	if a.Nested != nil {
		return ofNested(a.Nested, written, at, false)
	}
	return ofType(a.Type, written, at)
}

// ofNested converts the config of nested blocks to a value. A single block of a list or set may
// be written as an object; if no block is written, the value is an empty collection, not null.
func ofNested(n *schema.Nested, written any, at string, block bool) (cty.Value, error) {
	switch {
	case written == Unknown{}:
		return cty.UnknownVal(n.Type()), nil
	case written == nil && !block, written == nil && n.Mode == schema.Single:
		return cty.NullVal(n.Type()), nil
	case n.Mode == schema.Single, n.Mode == schema.Group:
		if written == nil {
			written = map[string]any{}
		}
		return OfBlock(n.Block, written, at)
	case n.Mode == schema.Map:
		object, ok := written.(map[string]any)
		if !ok && written != nil {
			return cty.NilVal, wrong(at, "must be an object, with a key for each")
		}
		values := map[string]cty.Value{}
		for key, item := range object {
			v, err := OfBlock(n.Block, item, at+"/"+key)
			if err != nil {
				return cty.NilVal, err
			}
			values[key] = v
		}
		if n.Type() == cty.DynamicPseudoType {
			return cty.ObjectVal(values), nil
		}
		if len(values) == 0 {
			return cty.MapValEmpty(n.Block.Type()), nil
		}
		return cty.MapVal(values), nil
	}
	list, ok := written.([]any)
	if one, single := written.(map[string]any); single {
		list, ok = []any{one}, true
	}
	if !ok && written != nil {
		return cty.NilVal, wrong(at, "must be an array")
	}
	var values []cty.Value
	for i, item := range list {
		v, err := OfBlock(n.Block, item, fmt.Sprintf("%s/%d", at, i))
		if err != nil {
			return cty.NilVal, err
		}
		values = append(values, v)
	}
	return collection(n, values), nil
}

func collection(n *schema.Nested, values []cty.Value) cty.Value {
	switch {
	case n.Type() == cty.DynamicPseudoType:
		return cty.TupleVal(values)
	case n.Mode == schema.Set && len(values) == 0:
		return cty.SetValEmpty(n.Block.Type())
	case n.Mode == schema.Set:
		return cty.SetVal(values)
	case len(values) == 0:
		return cty.ListValEmpty(n.Block.Type())
	}
	return cty.ListVal(values)
}

// ofType converts a part of a config to a value of a type. Missing attributes of objects are null.
func ofType(t cty.Type, written any, at string) (cty.Value, error) {
	switch written {
	case nil:
		return cty.NullVal(t), nil
	case Unknown{}:
		return cty.UnknownVal(t), nil
	}
	v, err := infer(t, written, at)
	if err != nil {
		return cty.NilVal, err
	}
	out, err := convert.Convert(v, t)
	if err != nil {
		return cty.NilVal, wrong(at, "%s", err)
	}
	return out, nil
}

// infer converts a part of a config to a value of its own type, with the attributes that its objects lack.
func infer(t cty.Type, written any, at string) (cty.Value, error) {
	switch w := written.(type) {
	case string:
		return cty.StringVal(w), nil
	case bool:
		return cty.BoolVal(w), nil
	case json.Number:
		v, err := cty.ParseNumberVal(w.String())
		if err != nil {
			return cty.NilVal, wrong(at, "%s", err)
		}
		return v, nil
	case []any:
		values := make([]cty.Value, len(w))
		for i, item := range w {
			inner := cty.DynamicPseudoType
			if t.IsTupleType() && i < t.Length() {
				inner = t.TupleElementType(i)
			} else if t.IsListType() || t.IsSetType() {
				inner = t.ElementType()
			}
			var err error
			if values[i], err = ofType(inner, item, fmt.Sprintf("%s/%d", at, i)); err != nil {
				return cty.NilVal, err
			}
		}
		return cty.TupleVal(values), nil
	case map[string]any:
		values := map[string]cty.Value{}
		for key, item := range w {
			inner := cty.DynamicPseudoType
			if t.IsObjectType() && t.HasAttribute(key) {
				inner = t.AttributeType(key)
			} else if t.IsObjectType() {
				return cty.NilVal, wrong(at+"/"+key, "the provider does not know it")
			} else if t.IsMapType() {
				inner = t.ElementType()
			}
			var err error
			if values[key], err = ofType(inner, item, at+"/"+key); err != nil {
				return cty.NilVal, err
			}
		}
		if t.IsObjectType() {
			for name, inner := range t.AttributeTypes() {
				if _, there := values[name]; !there {
					values[name] = cty.NullVal(inner)
				}
			}
		}
		return cty.ObjectVal(values), nil
	}
	return cty.NilVal, wrong(at, "cannot be read")
}

// JSON converts a value to JSON for people and for other resources. An unknown value becomes null.
func JSON(v cty.Value) any {
	if !v.IsKnown() || v.IsNull() {
		return nil
	}
	t := v.Type()
	switch {
	case t == cty.String:
		return v.AsString()
	case t == cty.Bool:
		return v.True()
	case t == cty.Number:
		return number(v.AsBigFloat())
	case t.IsObjectType() || t.IsMapType():
		out := map[string]any{}
		for key, inner := range v.AsValueMap() {
			out[key] = JSON(inner)
		}
		return out
	}
	out := []any{}
	for _, inner := range v.AsValueSlice() {
		out = append(out, JSON(inner))
	}
	return out
}

// number returns a number in decimal. Most are short integers: for others it takes long to
// find the shortest text of 512 bits.
func number(f *big.Float) json.Number {
	if n, exact := f.Int64(); exact == big.Exact {
		return json.Number(strconv.FormatInt(n, 10))
	}
	return json.Number(f.Text('f', -1))
}

// Pack encodes a value for a provider.
func Pack(v cty.Value, t cty.Type) (*tfplugin6.DynamicValue, error) {
	b, err := msgpack.Marshal(v, t)
	return &tfplugin6.DynamicValue{Msgpack: b}, err
}

// Unpack decodes a value from a provider; an empty message is null.
func Unpack(d *tfplugin6.DynamicValue, t cty.Type) (cty.Value, error) {
	switch {
	case len(d.GetMsgpack()) > 0:
		return msgpack.Unmarshal(d.GetMsgpack(), t)
	case len(d.GetJson()) > 0:
		return ctyjson.Unmarshal(d.GetJson(), t)
	}
	return cty.NullVal(t), nil
}

// Raw encodes a state for the memory: as the JSON that providers upgrade.
func Raw(v cty.Value, t cty.Type) (json.RawMessage, error) { return ctyjson.Marshal(v, t) }

// OfRaw decodes a state from the memory, which must be of the present version of the schema.
func OfRaw(raw json.RawMessage, t cty.Type) (cty.Value, error) { return ctyjson.Unmarshal(raw, t) }
