package values

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"

	"deployster/internal/base/diag"
)

// Describe describes a value in a few words.
func Describe(v cty.Value) string {
	if v.HasMarkDeep(Sensitive{}) {
		return "has a sensitive value"
	}
	v, _ = v.UnmarkDeep()
	switch {
	case !v.IsKnown():
		return "is known only after apply"
	case v.IsNull():
		return "is null"
	case v.Type() == cty.String:
		s := v.AsString()
		if len(s) > 80 {
			s = strings.ToValidUTF8(s[:80], "") + "…"
		}
		return fmt.Sprintf("is %q", s)
	case v.Type() == cty.Number:
		return "is " + ShortNumber(v)
	case v.Type() == cty.Bool:
		return fmt.Sprintf("is %t", v.True())
	case v.Type().IsObjectType():
		names := slices.Sorted(maps.Keys(v.Type().AttributeTypes()))
		if len(names) == 0 {
			return "is an object without attributes"
		}
		return "is an object with " + strings.Join(names[:min(len(names), 8)], ", ")
	case v.CanIterateElements():
		return fmt.Sprintf("is a %s of %d", strings.SplitN(v.Type().FriendlyName(), " ", 2)[0], v.LengthInt())
	}
	return "is " + v.Type().FriendlyName()
}

// ShortNumber returns a number for a message, with at most twenty digits.
func ShortNumber(v cty.Value) string {
	return v.AsBigFloat().Text('g', 20)
}

// QuoteKey quotes text as both HCL and JSON do, and escapes invisible characters.
func QuoteKey(key string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range key {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\u00a0' || diag.Visible(string(r)) != string(r):
			b.WriteString(escaped(r))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(b.String())
}

func escaped(r rune) string {
	const digits = "0123456789abcdef"
	if r > 0xffff { // JSON's form, a surrogate pair, is not valid in HCL
		return `\U` + hexOf(uint32(r), 8, digits)
	}
	return `\u` + hexOf(uint32(r), 4, digits)
}

func hexOf(n uint32, width int, digits string) string {
	out := make([]byte, width)
	for i := width - 1; i >= 0; i-- {
		out[i] = digits[n&15]
		n >>= 4
	}
	return string(out)
}

// Sized is a value, and the number of bytes of its text.
type Sized struct {
	Value cty.Value
	Size  int
}

// StringKey returns a key of for_each as a value.
func StringKey(key string) cty.Value { return cty.StringVal(key) }

// Capital returns a sentence with its first letter in upper case.
func Capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// SecretsIn returns the string forms of the sensitive values in v.
func SecretsIn(v cty.Value) []string {
	var out []string
	plain, marks := v.UnmarkDeepWithPaths()
	for _, pm := range marks {
		if !pm.Marks.Has(Sensitive{}) {
			continue
		}
		if found, err := pm.Path.Apply(plain); err == nil {
			out = append(out, leaves(found)...)
		}
	}
	return out
}

// leaves returns the string forms of all texts and numbers in a value.
func leaves(v cty.Value) []string {
	switch {
	case !v.IsKnown() || v.IsNull():
		return nil
	case v.Type() == cty.String:
		if s := v.AsString(); s != "" {
			return []string{s}
		}
	case v.Type() == cty.Number:
		if s, err := numberText(v.AsBigFloat()); err == nil {
			return []string{s}
		}
	case v.CanIterateElements():
		var out []string
		for it := v.ElementIterator(); it.Next(); {
			_, child := it.Element()
			out = append(out, leaves(child)...)
		}
		return out
	}
	return nil
}

// describeTypeError returns the text of a conversion error, with the path to the part that did not fit.
func describeTypeError(err error) string {
	var pe cty.PathError
	if errors.As(err, &pe) && len(pe.Path) > 0 {
		var b strings.Builder
		for _, step := range pe.Path {
			switch s := step.(type) {
			case cty.GetAttrStep:
				b.WriteString("." + s.Name)
			case cty.IndexStep:
				if s.Key.Type() == cty.String {
					fmt.Fprintf(&b, "[%q]", s.Key.AsString())
				} else {
					b.WriteString("[" + ShortNumber(s.Key) + "]")
				}
			}
		}
		return b.String() + ": " + err.Error()
	}
	return err.Error()
}

// Mismatch returns the needed type and a description of the value that does not fit.
func Mismatch(want cty.Type, value cty.Value, err error) string {
	if value.HasMarkDeep(Sensitive{}) {
		return TypeString(want) + " (its type is not shown, because it is sensitive)"
	}
	if want.IsPrimitiveType() {
		return TypeString(want) + ", and it " + Describe(value)
	}
	return TypeString(want) + ": " + describeTypeError(err)
}

// TypeString returns a type as in a manifest, with its article.
func TypeString(t cty.Type) string {
	switch {
	case t == cty.String:
		return "text (string)"
	case t == cty.Number:
		return "a number"
	case t == cty.Bool:
		return "a bool (true or false)"
	}
	return "of the type " + TypeName(t)
}

// TypeName returns a type as in a manifest.
func TypeName(t cty.Type) string { return typeexpr.TypeString(t) }
