package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"

	"deployster/internal/base/jsondoc"
)

// minSecret is the length from which on text is taken out of logs. Shorter text
// protects nothing, and taking it out would garble what is left.
const minSecret = 3

// secretsIn are the string forms of the sensitive values in v.
func secretsIn(v cty.Value) []string {
	var out []string
	plain, marks := v.UnmarkDeepWithPaths()
	for _, pm := range marks {
		if !pm.Marks.Has(sensitive{}) {
			continue
		}
		if found, err := pm.Path.Apply(plain); err == nil {
			out = append(out, leaves(found)...)
		}
	}
	return out
}

func leaves(v cty.Value) []string {
	switch {
	case !v.IsKnown() || v.IsNull():
		return nil
	case v.Type() == cty.String:
		if s := v.AsString(); len(s) >= minSecret {
			return []string{s}
		}
	case v.Type() == cty.Number:
		if s, err := numberText(v.AsBigFloat()); err == nil && len(s) >= minSecret {
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

// Secrets returns the string forms of all sensitive values that are known
// without asking a resource, longest first, for redaction of logs: variables
// and the local values made of them. Text shorter than three bytes and booleans
// are left out. See also Resolved.Secrets.
func (m *Manifest) Secrets() []string { return m.secrets() }

func (m *Manifest) findSecrets() []string {
	var out []string
	m.eachModule(func(mod *module) {
		for _, v := range mod.vars {
			out = append(out, secretsIn(v.value)...)
		}
		for _, v := range mod.locals {
			out = append(out, secretsIn(v.value)...)
		}
		for _, t := range mod.block.types {
			if a := t.attrs["env"]; a != nil {
				if v, diags := m.staticValue(a.Expr, cty.DynamicPseudoType, mod.site()); !diags.HasErrors() {
					out = append(out, secretsIn(v)...)
				}
			}
		}
	})
	return longestFirst(out)
}

// Secrets returns the string forms of the sensitive values in r, longest first.
func (r Resolved) Secrets() []string {
	v, err := fromJSON(r.Value)
	if err != nil {
		return nil
	}
	var out []string
	for _, p := range r.Sensitive {
		if found, err := pointerPath(v, p); err == nil {
			out = append(out, leaves(found)...)
		}
	}
	return longestFirst(out)
}

// pointerPath follows a JSON pointer.
func pointerPath(v cty.Value, pointer string) (cty.Value, error) {
	for _, step := range jsondoc.Pointer(pointer) {
		next := cty.NilVal
		switch {
		case v.Type().IsObjectType() && v.Type().HasAttribute(step):
			next = v.GetAttr(step)
		case v.Type().IsTupleType():
			if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < v.LengthInt() {
				next = v.Index(cty.NumberIntVal(int64(i)))
			}
		}
		if next == cty.NilVal {
			return v, fmt.Errorf("there is nothing at %s", pointer)
		}
		v = next
	}
	return v, nil
}

// describeTypeError says what did not fit, with the path to it.
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
					b.WriteString("[" + shortNumber(s.Key) + "]")
				}
			}
		}
		return b.String() + ": " + err.Error()
	}
	return err.Error()
}

func longestFirst(list []string) []string {
	slices.SortFunc(list, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(list)
}

// mismatch says what is wanted and what is there instead.
func mismatch(want cty.Type, value cty.Value, err error) string {
	if value.HasMarkDeep(sensitive{}) {
		return typeString(want) + " (what it is is not shown, because it is sensitive)"
	}
	if want.IsPrimitiveType() {
		return typeString(want) + ", and it " + describe(value)
	}
	return typeString(want) + ": " + describeTypeError(err)
}

// typeString writes a type as in a manifest, with its article.
func typeString(t cty.Type) string {
	switch {
	case t == cty.String:
		return "text (string)"
	case t == cty.Number:
		return "a number"
	case t == cty.Bool:
		return "a bool (true or false)"
	}
	return "of the type " + typeName(t)
}

// typeName writes a type as in a manifest.
func typeName(t cty.Type) string { return typeexpr.TypeString(t) }
