package variables

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"deployster/config/limits"
	"deployster/config/values"
)

// Spec is what a variable accepts, as its block declares it.
type Spec struct {
	Name      string
	At        hcl.Range // of its block
	Type      cty.Type
	Typed     bool // a type is declared
	Defaults  *typeexpr.Defaults
	Default   cty.Value // cty.NilVal: none, or none that is valid
	Optional  bool      // a default is declared
	Sensitive bool
	Nullable  bool
	Const     bool // its value is known before modules are read
	// Description is for a person who is prompted for the value.
	Description string
	// Deprecated is what to use in place of the variable, "" if it is not deprecated.
	Deprecated string
}

// Any is what a variable without arguments accepts.
func Any(name string, at hcl.Range) Spec {
	return Spec{Name: name, At: at, Type: cty.DynamicPseudoType, Nullable: true}
}

// Accept converts a value to the variable's type, with the defaults of its
// optional attributes.
func (s *Spec) Accept(value cty.Value) (cty.Value, error) {
	if err := limits.CheckValue(value); err != nil {
		return cty.NilVal, err
	}
	if s.Defaults != nil && !value.IsNull() {
		value = s.Defaults.Apply(value)
	}
	got, err := convert.Convert(value, s.Type)
	if err != nil {
		return cty.NilVal, &conversion{values.Mismatch(s.Type, value, err), err}
	}
	if got.IsNull() && !s.Nullable {
		if s.Default != cty.NilVal && !s.Default.IsNull() {
			return s.Default, nil // as in Terraform: null means the default
		}
		return cty.NilVal, fmt.Errorf("it must not be null, because the variable has nullable = false")
	}
	return got, nil
}

// conversion is the error for a value that does not fit its type. It wraps the error
// of cty, which has the path of the part that does not fit.
type conversion struct {
	want  string
	cause error
}

func (c *conversion) Error() string { return "it must be " + c.want }

func (c *conversion) Unwrap() error { return c.cause }

// Problem returns the text of an error, without the value if the variable is sensitive.
func (s *Spec) Problem(err error) string {
	if s.Sensitive {
		return "it must be " + values.TypeString(s.Type) + " (the value is not shown, because the variable is sensitive)"
	}
	return err.Error()
}

// Hidden marks the value of a sensitive variable.
func (s *Spec) Hidden(value cty.Value) cty.Value {
	if s.Sensitive {
		return value.Mark(values.Sensitive{})
	}
	return value
}

// Fallback returns the value of a variable that is not given: its default.
func (s *Spec) Fallback() cty.Value {
	if s.Default == cty.NilVal {
		return cty.UnknownVal(s.Type) // it has no valid default, which is already reported
	}
	return s.Default
}

// parse parses text from the command line or the environment. The text itself is the
// value for a string, a number or a bool, and for a variable without type; for other
// types it is an expression of constants.
func (s *Spec) parse(text string) (cty.Value, error) {
	if !s.Typed || s.Type.IsPrimitiveType() {
		return cty.StringVal(text), nil
	}
	name := "the value of var." + s.Name
	if d := limits.Native([]byte(text), name, false, hcl.InitialPos); d != nil {
		return cty.NilVal, fmt.Errorf("%s", d.Detail)
	}
	expr, diags := hclsyntax.ParseExpression([]byte(text), name, hcl.InitialPos)
	if diags.HasErrors() {
		return cty.NilVal, fmt.Errorf("it must be %s, written as in a manifest: %s", values.TypeString(s.Type),
			strings.TrimSuffix(diags[0].Detail, "."))
	}
	value, diags := expr.Value(nil)
	if diags.HasErrors() {
		return cty.NilVal, fmt.Errorf("it must be %s, written with constants only (text in quotes)", values.TypeString(s.Type))
	}
	return value, nil
}
