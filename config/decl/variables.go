package decl

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"deployster/config/limits"
	"deployster/config/refs"
	"deployster/config/schema"
	"deployster/config/source"
	"deployster/config/values"
	"deployster/internal/base/words"
)

// SensitiveVariables returns the names of the variables that are declared sensitive, sorted.
func (t *Tree) SensitiveVariables() []string {
	var names []string
	for name, v := range t.Root.Variables {
		if v.sensitive {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// variable decodes a variable block. The values of its attributes are constants.
func (l *loader) variable(b *hcl.Block) {
	v := &Variable{Block: l.header(b), Typ: cty.DynamicPseudoType, Nullable: true}
	c := l.content(b.Body, schema.Variable)
	v.Attrs = c.Attributes
	if a := v.Attrs["type"]; a != nil {
		v.Typ, v.defaults, v.typed = l.readType(a)
	}
	l.deprecated(&v.Block)
	l.constant(v.Attrs["sensitive"], cty.Bool, func(x cty.Value) { v.sensitive = x.True() })
	l.constant(v.Attrs["nullable"], cty.Bool, func(x cty.Value) { v.Nullable = x.True() })
	l.constant(v.Attrs["description"], cty.String, func(x cty.Value) { v.description = x.AsString() })
	if a := v.Attrs["default"]; a != nil {
		l.constant(a, cty.DynamicPseudoType, func(x cty.Value) { v.def = x })
		if v.def != cty.NilVal {
			if value, err := v.Accept(v.def); err != nil {
				l.add(source.Failure(a.Expr.Range(), "Invalid default", "The default of the variable %q does not fit: %s.", v.Name,
					v.Problem(err)))
			} else {
				v.def = value
			}
			if !v.sensitive && v.def.HasMarkDeep(values.Sensitive{}) { // a saved plan holds values without marks
				l.add(source.Failure(v.At, "Sensitive default", "The default of the variable %q uses sensitive(), and only a variable as "+
					"a whole can be sensitive. Write sensitive = true in its block instead.", v.Name))
			}
		}
	}
	for _, check := range c.Blocks.OfType("validation") {
		v.Checks = append(v.Checks, l.content(check.Body, schema.Condition).Attributes)
	}
	l.constVariable(v)
	if slices.Contains(metaArguments, v.Name) {
		l.add(source.Failure(v.At, "Reserved name", "A variable cannot be called %q: %s is an attribute of module blocks, so that the "+
			"variable could not be given. Choose another name.", v.Name, v.Name))
	}
	if first := l.b.Variables[v.Name]; first != nil {
		l.add(twice("variable", v.Name, first.At, v.At))
		return
	}
	l.b.Variables[v.Name] = v
}

// constant evaluates an attribute that may not contain references.
func (l *loader) constant(a *hcl.Attribute, want cty.Type, set func(cty.Value)) {
	if a == nil {
		return
	}
	if vars := a.Expr.Variables(); len(vars) > 0 {
		hint := ""
		if a.Name == "default" {
			hint = " Compute it in a locals block."
		}
		l.add(source.Failure(vars[0].SourceRange(), "Not a constant", "Only constants can stand here: %s cannot be used in the attribute "+
			"%q.%s",
			refs.TraversalString(vars[0]), a.Name, hint))
		return
	}
	value, diags := a.Expr.Value(&hcl.EvalContext{Functions: l.b.Functions})
	l.add(diags...)
	if diags.HasErrors() {
		return
	}
	got, err := convert.Convert(value, want)
	if err != nil || (want != cty.DynamicPseudoType && (got.IsNull() || got.IsMarked())) {
		l.add(source.Failure(a.Expr.Range(), "Wrong type", "%q must be a %s.", a.Name, want.FriendlyName()))
		return
	}
	if got.IsWhollyKnown() { // otherwise the parser has already reported an error in it
		set(got)
	}
}

// Accept converts a value to the variable's type, with the defaults of its
// optional attributes.
func (v *Variable) Accept(value cty.Value) (cty.Value, error) {
	if err := limits.CheckValue(value); err != nil {
		return cty.NilVal, err
	}
	if v.defaults != nil && !value.IsNull() {
		value = v.defaults.Apply(value)
	}
	got, err := convert.Convert(value, v.Typ)
	if err != nil {
		return cty.NilVal, &conversion{values.Mismatch(v.Typ, value, err), err}
	}
	if got.IsNull() && !v.Nullable {
		if v.def != cty.NilVal && !v.def.IsNull() {
			return v.def, nil // as in Terraform: null means the default
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
func (v *Variable) Problem(err error) string {
	if v.sensitive {
		return "it must be " + values.TypeString(v.Typ) + " (the value is not shown, because the variable is sensitive)"
	}
	return err.Error()
}

// parse parses text from the command line or the environment. The text itself is the
// value for a string, a number or a bool, and for a variable without type; for other
// types it is an expression of constants.
func (v *Variable) parse(text string) (cty.Value, error) {
	if !v.typed || v.Typ.IsPrimitiveType() {
		return cty.StringVal(text), nil
	}
	name := "the value of var." + v.Name
	if d := limits.Native([]byte(text), name, false, hcl.InitialPos); d != nil {
		return cty.NilVal, fmt.Errorf("%s", d.Detail)
	}
	expr, diags := hclsyntax.ParseExpression([]byte(text), name, hcl.InitialPos)
	if diags.HasErrors() {
		return cty.NilVal, fmt.Errorf("it must be %s, written as in a manifest: %s", values.TypeString(v.Typ),
			strings.TrimSuffix(diags[0].Detail, "."))
	}
	value, diags := expr.Value(nil)
	if diags.HasErrors() {
		return cty.NilVal, fmt.Errorf("it must be %s, written with constants only (text in quotes)", values.TypeString(v.Typ))
	}
	return value, nil
}

// setVariables sets the value of every variable: the last of its inputs, or else its
// default. A variable without a valid value is unknown, so that its error is reported
// only once.
func (t *Tree) setVariables(inputs []source.VarInput) hcl.Diagnostics {
	var diags hcl.Diagnostics
	given := map[string]source.VarInput{}
	for _, in := range inputs {
		if in.Src != nil {
			t.Set.Text[in.At.Filename] = in.Src
		}
		if t.Root.Variables[in.Name] == nil {
			diags = append(diags, t.undeclared(in)...)
			continue
		}
		given[in.Name] = in
		t.Origins[in.Name] = in.Origin
	}
	for _, name := range slices.Sorted(maps.Keys(t.Root.Variables)) {
		v := t.Root.Variables[name]
		in, ok := given[name]
		value, d := t.valueOf(v, in, ok)
		diags = append(diags, d...)
		if value == cty.NilVal {
			value = cty.UnknownVal(v.Typ)
		}
		value = v.Hidden(value)
		t.Vars[name] = values.Sized{Value: value, Size: limits.TextSize(value)}
	}
	return diags
}

// Hidden marks the value of a sensitive variable.
func (v *Variable) Hidden(value cty.Value) cty.Value {
	if v.sensitive {
		return value.Mark(values.Sensitive{})
	}
	return value
}

// Fallback returns the value of a variable that is not given: its default.
func (v *Variable) Fallback() cty.Value {
	if v.def == cty.NilVal {
		return cty.UnknownVal(v.Typ) // it has no valid default, which is already reported
	}
	return v.def
}

func (t *Tree) valueOf(v *Variable, in source.VarInput, given bool) (cty.Value, hcl.Diagnostics) {
	if !given {
		if v.def == cty.NilVal && v.Attrs["default"] == nil {
			if t.AllowUnset {
				t.HasUnsetVars = true
				return cty.NilVal, nil
			}
			v.missing = !v.Const
			return cty.NilVal, hcl.Diagnostics{source.Failure(v.At, "A variable has no value",
				"The variable %q has no default, so it must be given: on the command line with -var '%s=VALUE', in a file given with "+
					"-var-file, in vars.auto.hcl here or in ~/.deployster, or in the environment as DEPLOYSTER_VAR_%s. On a terminal, "+
					"plan and apply prompt for it.",
				v.Name, v.Name, v.Name)}
		}
		return v.def, nil
	}
	if d := v.misplaced(in); d != nil {
		return cty.NilVal, hcl.Diagnostics{d}
	}
	value, err := in.Value, error(nil)
	if value == cty.NilVal {
		value, err = v.parse(in.Text)
	}
	if err == nil {
		value, err = v.Accept(value)
	}
	if err == nil {
		return value, append(v.bracketed(in), v.deprecatedInput(in)...)
	}
	place := v.At
	if in.Src != nil && !v.sensitive { // for a sensitive variable, the line in the file would show the value
		place = in.PlaceOf(err)
	}
	return cty.NilVal, hcl.Diagnostics{source.Failure(place, "Invalid value of a variable",
		"The value of the variable %q from %s does not fit: %s.", v.Name, in.Origin, v.Problem(err))}
}

// bracketed returns a warning if the value of a variable without type reads like a list or an object: it is text.
func (v *Variable) bracketed(in source.VarInput) hcl.Diagnostics {
	text := strings.TrimSpace(in.Text)
	if v.Attrs["type"] != nil || in.Value != cty.NilVal || v.sensitive || !strings.HasPrefix(text, "[") && !strings.HasPrefix(text, "{") {
		return nil
	}
	return hcl.Diagnostics{{Severity: hcl.DiagWarning, Summary: "The value of a variable is text", Subject: v.At.Ptr(),
		Detail: fmt.Sprintf("The variable %q has no type, so the value from %s is text, though it has the form of a list or an object. "+
			"Declare its type, such as list(string).", v.Name, in.Origin)}}
}

func (t *Tree) undeclared(in source.VarInput) hcl.Diagnostics {
	if in.Quiet || in.Pinned {
		return nil
	}
	d := &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "Undeclared variable",
		Detail: fmt.Sprintf("A value for the variable %q is given by %s, but no manifest declares it.%s Declare it with a variable block, "+
			"or remove the value.",
			in.Name, in.Origin, words.DidYouMean(in.Name, slices.Sorted(maps.Keys(t.Root.Variables))))}
	if in.Strict {
		d.Severity = hcl.DiagError
	}
	if in.Src != nil {
		d.Subject = in.At.Ptr()
	}
	return hcl.Diagnostics{d}
}

// Variables returns the variables' values with their types, for Pinned. Sensitive
// values are included in clear text.
func (t *Tree) Variables() map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for name, v := range t.Vars {
		plain, _ := v.Value.UnmarkDeep()
		if !plain.IsWhollyKnown() {
			continue // its error is already reported
		}
		if raw, err := (ctyjson.SimpleJSONValue{Value: plain}).MarshalJSON(); err == nil {
			out[name] = raw
		}
	}
	return out
}
