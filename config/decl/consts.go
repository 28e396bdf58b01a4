package decl

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/source"
)

// constVariable decodes the attribute const of a variable.
func (l *loader) constVariable(v *Variable) {
	a := v.Attrs["const"]
	if l.constant(a, cty.Bool, func(x cty.Value) { v.Const = x.True() }); v.Const && v.sensitive {
		l.add(source.Failure(a.Range, "A sensitive constant", "The variable %q has const = true: its value decides what is read, and is "+
			"shown in messages. Remove sensitive or const.", v.Name))
	}
	if v.Const && l.b.Parent != nil {
		l.add(source.Failure(a.Range, "A constant in a module", "The variable %q of a module gets its value from the module block, "+
			"which is evaluated later. Only variables of the root manifest can have const = true. Remove it here.", v.Name))
	}
}

// misplaced returns an error for a value of a constant that comes from elsewhere than a file or -var.
func (v *Variable) misplaced(in source.VarInput) *hcl.Diagnostic {
	if !v.Const || !in.Quiet {
		return nil
	}
	return source.Failure(v.At, "A constant from the environment", "The variable %q has const = true, so its value comes from its "+
		"default, a file or -var, and not from %s. Give it with -var '%s=VALUE', or write it into vars.auto.hcl.", v.Name, in.Origin,
		v.Name)
}

// Consts returns the values of the variables with const = true. They are known as soon as the files of the root are
// decoded, before any module is read; errors in them are reported when all variables get their values.
func (t *Tree) Consts(inputs []source.VarInput) map[string]cty.Value {
	given, found := map[string]source.VarInput{}, map[string]cty.Value{}
	for _, in := range inputs {
		given[in.Name] = in
	}
	for name, v := range t.Root.Variables {
		if v.Const {
			in, ok := given[name]
			found[name] = cty.UnknownVal(v.Typ)
			if value, diags := t.valueOf(v, in, ok); !diags.HasErrors() && value != cty.NilVal {
				found[name] = value
			}
		}
	}
	return found
}
