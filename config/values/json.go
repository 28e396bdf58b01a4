package values

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"deployster/config/limits"
	"deployster/internal/base/jsondoc"
)

// UnknownKey is the only key of the object that represents an unknown value.
const UnknownKey = "$unknown"

// PathPointer returns the JSON pointer of a path. The elements of a set have no place
// of their own: the pointer is the set's.
func PathPointer(v cty.Value, path cty.Path) string {
	return jsondoc.JoinPointer(PathSteps(v, path))
}

// PathSteps returns the keys and indexes of a path, up to the first set.
func PathSteps(v cty.Value, path cty.Path) []string {
	var steps []string
	v, _ = v.Unmark()
	for _, step := range path {
		if v.Type().IsSetType() {
			break
		}
		switch s := step.(type) {
		case cty.GetAttrStep:
			steps = append(steps, s.Name)
		case cty.IndexStep:
			if s.Key.Type() == cty.String {
				steps = append(steps, s.Key.AsString())
			} else {
				steps = append(steps, s.Key.AsBigFloat().Text('f', 0))
			}
		}
		next, err := step.Apply(v)
		if err != nil {
			break
		}
		v, _ = next.Unmark()
	}
	return steps
}

// Writer encodes canonical JSON: object keys sorted, no unnecessary escapes, numbers
// with all their digits.
type Writer struct {
	Out     bytes.Buffer
	Unknown map[string]string
	At      []string // the path of the current value, or of the one that failed
}

// Value encodes a value; if it fails, At is the path of the part that failed.
func (w *Writer) Value(v cty.Value) error {
	if !v.IsKnown() {
		w.Out.WriteString(`{"` + UnknownKey + `":`)
		w.text(w.Unknown[jsondoc.JoinPointer(w.At)])
		w.Out.WriteByte('}')
		return nil
	}
	if v.IsNull() {
		w.Out.WriteString("null")
		return nil
	}
	switch typ := v.Type(); {
	case typ == cty.String:
		w.text(v.AsString())
	case typ == cty.Bool:
		fmt.Fprintf(&w.Out, "%t", v.True())
	case typ == cty.Number:
		text, err := numberText(v.AsBigFloat())
		if err != nil {
			return err
		}
		w.Out.WriteString(text)
	case typ.IsObjectType():
		return w.object(jsondoc.Keys(typ.AttributeTypes()), v.GetAttr)
	case typ.IsMapType():
		items := v.AsValueMap()
		return w.object(jsondoc.Keys(items), func(key string) cty.Value { return items[key] })
	case v.CanIterateElements():
		w.Out.WriteByte('[')
		for i, item := range v.AsValueSlice() {
			if i > 0 {
				w.Out.WriteByte(',')
			}
			if err := w.inner(strconv.Itoa(i), item); err != nil {
				return err
			}
		}
		w.Out.WriteByte(']')
	default:
		return fmt.Errorf("a %s cannot be given to a resource", typ.FriendlyName())
	}
	return nil
}

// inner encodes a part of a value.
func (w *Writer) inner(name string, v cty.Value) error {
	w.At = append(w.At, name)
	err := w.Value(v)
	if err == nil {
		w.At = w.At[:len(w.At)-1]
	}
	return err
}

func (w *Writer) object(names []string, get func(name string) cty.Value) error {
	w.Out.WriteByte('{')
	for i, name := range names {
		if strings.HasPrefix(name, UnknownKey) {
			return fmt.Errorf("keys that begin with %s are reserved: they mark values that are known only after apply. Rename it",
				UnknownKey)
		}
		if i > 0 {
			w.Out.WriteByte(',')
		}
		w.text(name)
		w.Out.WriteByte(':')
		if err := w.inner(name, get(name)); err != nil {
			return err
		}
	}
	w.Out.WriteByte('}')
	return nil
}

func (w *Writer) text(s string) {
	w.Out.Write(jsondoc.AppendText(w.Out.AvailableBuffer(), s))
}

// numberText encodes a number exactly. Very large and very small ones get an exponent.
func numberText(n *big.Float) (string, error) {
	if i, exact := n.Int64(); exact == big.Exact {
		return strconv.FormatInt(i, 10), nil // ten times faster, and sufficient for nearly all numbers
	}
	if err := limits.CheckNumber(n); err != nil {
		return "", err
	}
	text := n.Text('f', -1)
	if len(text) > 320 {
		text = n.Text('g', -1)
	}
	return text, nil
}

// FromJSON decodes JSON into objects, lists and primitive values.
func FromJSON(data json.RawMessage) (cty.Value, error) {
	v, err := jsondoc.Value(data)
	if err != nil {
		return cty.NilVal, err
	}
	return FromPlain(v)
}

// FromPlain converts what encoding/json decodes, with numbers as json.Number.
func FromPlain(v any) (cty.Value, error) {
	switch x := v.(type) {
	case string:
		return cty.StringVal(x), nil
	case bool:
		return cty.BoolVal(x), nil
	case json.Number:
		// Four bits per digit are more than enough; cty alone would round numbers
		// with more than 154 digits.
		n, _, err := big.ParseFloat(x.String(), 10, uint(max(512, 4*len(x))), big.ToNearestEven)
		if err != nil {
			return cty.NilVal, fmt.Errorf("the number %s cannot be read", x)
		}
		return cty.NumberVal(n), nil
	case []any:
		items := make([]cty.Value, len(x))
		for i := range x {
			var err error
			if items[i], err = FromPlain(x[i]); err != nil {
				return cty.NilVal, err
			}
		}
		return cty.TupleVal(items), nil
	case map[string]any:
		attrs := make(map[string]cty.Value, len(x))
		for k := range x {
			var err error
			if attrs[k], err = FromPlain(x[k]); err != nil {
				return cty.NilVal, err
			}
		}
		return cty.ObjectVal(attrs), nil
	}
	return cty.NullVal(cty.DynamicPseudoType), nil
}
