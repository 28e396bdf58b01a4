package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"deployster/config/limits"
)

// sensitiveVariables names the variables that are declared sensitive, sorted.
func (t *declTree) sensitiveVariables() []string {
	var names []string
	for name, v := range t.root.variables {
		if v.sensitive {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// variable decodes a variable block. Its own attributes are constants.
func (l *loader) variable(b *hcl.Block) {
	v := &variable{block: l.header(b), typ: cty.DynamicPseudoType, nullable: true}
	c := l.content(b.Body, variableSchema.BodySchema)
	v.attrs = c.Attributes
	if a := v.attrs["type"]; a != nil {
		typ, defaults, diags := typeexpr.TypeConstraintWithDefaults(a.Expr)
		for _, d := range diags {
			if d.Summary != "Invalid type specification" {
				continue // what is wrong is a default in it
			}
			d.Detail += suggest(hcl.ExprAsKeyword(a.Expr), []string{"string", "number", "bool", "any"}) +
				" The types are string, number, bool, any, list(T), set(T), map(T), object({ NAME = T }) and tuple([T])."
		}
		l.add(diags...)
		v.typ, v.defaults, v.typed = typ, defaults, !diags.HasErrors()
	}
	l.constant(v.attrs["sensitive"], cty.Bool, func(x cty.Value) { v.sensitive = x.True() })
	l.constant(v.attrs["nullable"], cty.Bool, func(x cty.Value) { v.nullable = x.True() })
	l.constant(v.attrs["description"], cty.String, func(x cty.Value) { v.description = x.AsString() })
	if a := v.attrs["default"]; a != nil {
		l.constant(a, cty.DynamicPseudoType, func(x cty.Value) { v.def = x })
		if v.def != cty.NilVal {
			if value, err := v.accept(v.def); err != nil {
				l.add(failure(a.Expr.Range(), "Invalid default", "The default of the variable %q does not fit: %s.", v.name, v.problem(err)))
			} else {
				v.def = value
			}
		}
	}
	for _, check := range c.Blocks.OfType("validation") {
		v.checks = append(v.checks, l.content(check.Body, validationSchema.BodySchema).Attributes)
	}
	if slices.Contains(metaArguments, v.name) {
		l.add(failure(v.at, "Reserved name", "A variable cannot be called %q: in a module block, %s says something of the module itself, so that the variable could not be given. Choose another name.", v.name, v.name))
	}
	if first := l.b.variables[v.name]; first != nil {
		l.add(twice("variable", v.name, first.at, v.at))
		return
	}
	l.b.variables[v.name] = v
}

// constant evaluates an attribute in which nothing may be referred to.
func (l *loader) constant(a *hcl.Attribute, want cty.Type, set func(cty.Value)) {
	if a == nil {
		return
	}
	if vars := a.Expr.Variables(); len(vars) > 0 {
		hint := ""
		if a.Name == "default" {
			hint = " Compute it in a locals block."
		}
		l.add(failure(vars[0].SourceRange(), "Not a constant", "Only constants can stand here: %s cannot be used in the attribute %q.%s", traversalString(vars[0]), a.Name, hint))
		return
	}
	value, diags := a.Expr.Value(&hcl.EvalContext{Functions: l.b.functions})
	l.add(diags...)
	if diags.HasErrors() {
		return
	}
	got, err := convert.Convert(value, want)
	if err != nil || (want != cty.DynamicPseudoType && (got.IsNull() || got.IsMarked())) {
		l.add(failure(a.Expr.Range(), "Wrong type", "%q must be a %s.", a.Name, want.FriendlyName()))
		return
	}
	if got.IsWhollyKnown() { // else the parser has said what is wrong with it
		set(got)
	}
}

// accept converts a value to the variable's type, with the defaults of its
// optional attributes.
func (v *variable) accept(value cty.Value) (cty.Value, error) {
	if err := limits.CheckValue(value); err != nil {
		return cty.NilVal, err
	}
	if v.defaults != nil && !value.IsNull() {
		value = v.defaults.Apply(value)
	}
	got, err := convert.Convert(value, v.typ)
	if err != nil {
		return cty.NilVal, &conversion{mismatch(v.typ, value, err), err}
	}
	if got.IsNull() && !v.nullable {
		if v.def != cty.NilVal && !v.def.IsNull() {
			return v.def, nil // as in Terraform: null means the default
		}
		return cty.NilVal, fmt.Errorf("it must not be null, because the variable says nullable = false")
	}
	return got, nil
}

// conversion is an error of a value that does not fit its type. It wraps the
// library's, which knows which part does not.
type conversion struct {
	want  string
	cause error
}

func (c *conversion) Error() string { return "it must be " + c.want }

func (c *conversion) Unwrap() error { return c.cause }

// problem is the text of an error, which for a sensitive variable says nothing
// of the value.
func (v *variable) problem(err error) string {
	if v.sensitive {
		return "it must be " + typeString(v.typ) + " (the value is not shown, because the variable is sensitive)"
	}
	return err.Error()
}

// parse reads text from the command line or the environment: as it is for a
// string, a number or a bool, and for a variable without type; else as an
// expression of constants.
func (v *variable) parse(text string) (cty.Value, error) {
	if !v.typed || v.typ.IsPrimitiveType() {
		return cty.StringVal(text), nil
	}
	name := "the value of var." + v.name
	if d := limits.Native([]byte(text), name, false, hcl.InitialPos); d != nil {
		return cty.NilVal, fmt.Errorf("%s", d.Detail)
	}
	expr, diags := hclsyntax.ParseExpression([]byte(text), name, hcl.InitialPos)
	if diags.HasErrors() {
		return cty.NilVal, fmt.Errorf("it must be %s, written as in a manifest: %s", typeString(v.typ), strings.TrimSuffix(diags[0].Detail, "."))
	}
	value, diags := expr.Value(nil)
	if diags.HasErrors() {
		return cty.NilVal, fmt.Errorf("it must be %s, written with constants only (text in quotes)", typeString(v.typ))
	}
	return value, nil
}

// setVariables gives every variable its value: the last of its inputs, else
// its default. One that gets none by a mistake is unknown from then on, so that
// the mistake is said once.
func (t *declTree) setVariables(inputs []VarInput) hcl.Diagnostics {
	var diags hcl.Diagnostics
	given := map[string]VarInput{}
	for _, in := range inputs {
		if in.src != nil {
			t.set.text[in.at.Filename] = in.src
		}
		if t.root.variables[in.Name] == nil {
			diags = append(diags, t.undeclared(in)...)
			continue
		}
		given[in.Name] = in
		t.origins[in.Name] = in.Origin
	}
	for _, name := range slices.Sorted(maps.Keys(t.root.variables)) {
		v := t.root.variables[name]
		in, ok := given[name]
		value, d := t.valueOf(v, in, ok)
		diags = append(diags, d...)
		if value == cty.NilVal {
			value = cty.UnknownVal(v.typ)
		}
		value = v.hidden(value)
		t.vars[name] = known{value, limits.TextSize(value)}
	}
	return diags
}

// hidden marks the value of a sensitive variable.
func (v *variable) hidden(value cty.Value) cty.Value {
	if v.sensitive {
		return value.Mark(sensitive{})
	}
	return value
}

// fallback is the value of a variable that is not given: its default.
func (v *variable) fallback() cty.Value {
	if v.def == cty.NilVal {
		return cty.UnknownVal(v.typ) // that it has none has been said
	}
	return v.def
}

func (t *declTree) valueOf(v *variable, in VarInput, given bool) (cty.Value, hcl.Diagnostics) {
	if !given {
		if v.def == cty.NilVal && v.attrs["default"] == nil {
			if t.allowUnset {
				t.hasUnset = true
				return cty.NilVal, nil
			}
			v.missing = true
			return cty.NilVal, hcl.Diagnostics{failure(v.at, "A variable has no value",
				"The variable %q has no default, so it must be given: on the command line with -var '%s=VALUE', in a file given with -var-file, in vars.auto.hcl here or in ~/.deployster, or in the environment as DEPLOYSTER_VAR_%s. On a terminal, plan and apply ask for it.", v.name, v.name, v.name)}
		}
		return v.def, nil
	}
	value, err := in.value, error(nil)
	if value == cty.NilVal {
		value, err = v.parse(in.text)
	}
	if err == nil {
		value, err = v.accept(value)
	}
	if err == nil {
		return value, nil
	}
	place := v.at
	if in.src != nil && !v.sensitive { // the line in the file would show it
		place = in.placeOf(err)
	}
	return cty.NilVal, hcl.Diagnostics{failure(place, "Invalid value of a variable", "The value of the variable %q from %s does not fit: %s.", v.name, in.Origin, v.problem(err))}
}

func (t *declTree) undeclared(in VarInput) hcl.Diagnostics {
	if in.quiet || in.pinned {
		return nil
	}
	d := &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "Undeclared variable",
		Detail: fmt.Sprintf("A value for the variable %q is given by %s, but no manifest declares it.%s Declare it with a variable block, or remove the value.",
			in.Name, in.Origin, suggest(in.Name, slices.Sorted(maps.Keys(t.root.variables))))}
	if in.strict {
		d.Severity = hcl.DiagError
	}
	if in.src != nil {
		d.Subject = in.at.Ptr()
	}
	return hcl.Diagnostics{d}
}

// variables returns the variables' values with their types, for Pinned. What
// is sensitive is in it as it is.
func (t *declTree) variables() map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for name, v := range t.vars {
		plain, _ := v.value.UnmarkDeep()
		if !plain.IsWhollyKnown() {
			continue // Load has said what is wrong
		}
		if raw, err := (ctyjson.SimpleJSONValue{Value: plain}).MarshalJSON(); err == nil {
			out[name] = raw
		}
	}
	return out
}
