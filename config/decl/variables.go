package decl

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"deployster/config/refs"
	"deployster/config/schema"
	"deployster/config/source"
	"deployster/config/values"
	"deployster/config/variables"
)

// Missing is a variable of the root that has no value.
type Missing = variables.Missing

// Variable is a declared variable.
type Variable struct {
	Block
	Spec   variables.Spec
	Checks []hcl.Attributes
	// NeedsState: it is a variable of a called module, and its value depends on a resource.
	NeedsState bool
	// Waits: it depends on a resource, or on a block with depends_on.
	Waits bool
}

// variable decodes a variable block. The values of its attributes are constants.
func (l *loader) variable(b *hcl.Block) {
	v := &Variable{Block: l.header(b)}
	v.Spec = variables.Any(v.Name, v.At)
	c := l.content(b.Body, schema.Variable)
	v.Attrs = c.Attributes
	if a := v.Attrs["type"]; a != nil {
		v.Spec.Type, v.Spec.Defaults, v.Spec.Typed = l.readType(a)
	}
	l.deprecated(&v.Block)
	v.Spec.Deprecated = v.Deprecated
	l.constant(v.Attrs["sensitive"], cty.Bool, func(x cty.Value) { v.Spec.Sensitive = x.True() })
	l.constant(v.Attrs["nullable"], cty.Bool, func(x cty.Value) { v.Spec.Nullable = x.True() })
	l.constant(v.Attrs["description"], cty.String, func(x cty.Value) { v.Spec.Description = x.AsString() })
	l.fallback(&v.Spec, v.Attrs["default"])
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

// fallback reads the default of a variable.
func (l *loader) fallback(s *variables.Spec, a *hcl.Attribute) {
	s.Optional = a != nil
	l.constant(a, cty.DynamicPseudoType, func(x cty.Value) { s.Default = x })
	if s.Default == cty.NilVal {
		return
	}
	if value, err := s.Accept(s.Default); err != nil {
		l.add(source.Failure(a.Expr.Range(), "Invalid default", "The default of the variable %q does not fit: %s.", s.Name, s.Problem(err)))
	} else {
		s.Default = value
	}
	if !s.Sensitive && s.Default.HasMarkDeep(values.Sensitive{}) { // a saved plan holds values without marks
		l.add(source.Failure(s.At, "Sensitive default", "The default of the variable %q uses sensitive(), and only a variable as "+
			"a whole can be sensitive. Write sensitive = true in its block instead.", s.Name))
	}
}

// constVariable decodes the attribute const of a variable.
func (l *loader) constVariable(v *Variable) {
	a, s := v.Attrs["const"], &v.Spec
	if l.constant(a, cty.Bool, func(x cty.Value) { s.Const = x.True() }); s.Const && s.Sensitive {
		l.add(source.Failure(a.Range, "A sensitive constant", "The variable %q has const = true: its value decides what is read, and is "+
			"shown in messages. Remove sensitive or const.", v.Name))
	}
	if s.Const && l.b.Parent != nil {
		l.add(source.Failure(a.Range, "A constant in a module", "The variable %q of a module gets its value from the module block, "+
			"which is evaluated later. Only variables of the root manifest can have const = true. Remove it here.", v.Name))
	}
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
