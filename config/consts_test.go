package config

import (
	"strings"
	"testing"

	"deployster/config/decl"
	"deployster/config/source"
)

// A constant gets its value from its default, a file or -var, and is known before any module is read.
func TestConsts_AreKnownBeforeModules(t *testing.T) {
	t.Parallel()
	const text = "variable \"version\" {\n  const   = true\n  default = \"1.2\"\n}\nvariable \"other\" { default = 1 }\n"
	for _, c := range []struct {
		flags   []string
		environ []string
		want    string // the value
		fails   string
	}{
		{want: "1.2"},
		{flags: []string{"version=2"}, want: "2"},
		{environ: []string{"DEPLOYSTER_VAR_version=3"}, fails: "A constant from the environment"},
		{flags: []string{"version=2"}, environ: []string{"DEPLOYSTER_VAR_version=3"}, want: "2"},
		{environ: []string{"DEPLOYSTER_VAR_other=3"}, want: "1.2"},
	} {
		dir := t.TempDir()
		var flags []VarFlag
		for _, f := range c.flags {
			flags = append(flags, VarFlag{Value: f})
		}
		inputs, diags := FindVariables(dir, "", c.environ, flags)
		fatal(t, diags)
		set := source.New(sources(dir, text), Builtins{})
		tree := decl.New(set)
		found, _ := tree.Load(inputs)
		if c.fails != "" {
			if !found.HasErrors() || !strings.Contains(found.Error(), c.fails) || tree.Vars.Consts(inputs)["version"].IsKnown() {
				t.Errorf("%v: %v", c, found)
			}
			continue
		}
		if consts := tree.Vars.Consts(inputs); found.HasErrors() || len(consts) != 1 || consts["version"].AsString() != c.want {
			t.Errorf("%v: %v, %v", c, consts, found)
		}
	}
}

// A constant is neither secret nor prompted for, and modules have none.
func TestConsts_Refused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"variable \"v\" {\n  const = true\n  sensitive = true\n  default = 1\n}\n": "A sensitive constant",
		"variable \"v\" { const = 1 }\n":                                           "must be a bool",
	} {
		if _, diags := loadWith(t, map[string]string{"main.hcl": text}); !diags.HasErrors() || !strings.Contains(diags.Error(), want) {
			t.Errorf("%s: %v", text, diags)
		}
	}
	m, diags := loadWith(t, map[string]string{"main.hcl": "variable \"v\" { const = true }\n"})
	if !diags.HasErrors() || len(m.Variables().Missing()) > 0 {
		t.Errorf("it is prompted for: %v", m.Variables().Missing())
	}
	if _, diags := loadWith(t, map[string]string{"main.hcl": "module \"m\" { source = \"./m\" }\n",
		"m": "variable \"v\" {\n  const = true\n  default = 1\n}\n"}); !strings.Contains(diags.Error(), "A constant in a module") {
		t.Errorf("%v", diags)
	}
}

// The source of a module may have constants in it, which decide what is read; nothing else may be in it.
func TestConsts_InTheSourceOfAModule(t *testing.T) {
	t.Parallel()
	const which = "variable \"which\" {\n  const   = true\n  default = \"a\"\n}\nvariable \"late\" { default = \"a\" }\nlocals { l = \"a\" }\n"
	call := func(source string) string {
		return which + "module \"m\" { source = " + source + " }\noutput \"o\" { value = module.m.is }\n"
	}
	files := func(main string) map[string]string {
		return map[string]string{"main.hcl": main, "a": "output \"is\" { value = \"A\" }\n", "b": "output \"is\" { value = \"B\" }\n",
			"outer": "variable \"x\" { default = \"a\" }\nmodule \"n\" { source = \"../${var.x}\" }\noutput \"is\" { value = 1 }\n"}
	}
	for _, c := range []struct{ source, flag, want, fails string }{
		{source: `"./${var.which}"`, want: `"A"`},
		{source: `"./${var.which}"`, flag: "which=b", want: `"B"`},
		{source: `format("./%s", lower(var.which))`, flag: "which=B", want: `"B"`},
		{source: `"./${var.late}"`, fails: "main.hcl:7: Not a constant: The variable \"late\" is not known yet when the source of a module is read. " +
			"Write const = true in its block (main.hcl:5)."},
		{source: `"./${local.l}"`, fails: "local.l cannot be used in the source of a module"},
		{source: `"./${var.wich}"`, fails: `The variable "wich" is not declared. Did you mean "which"?`},
		{source: `var.which == "a" ? null : "./b"`, fails: "must be a text that is known before anything"},
		{source: `"./outer"`, fails: "var.x cannot be used in the source of a module that is called by a module"},
	} {
		var vars []string
		if c.flag != "" {
			vars = append(vars, c.flag)
		}
		m, diags := loadWith(t, files(call(c.source)), vars...)
		if c.fails != "" {
			if !diags.HasErrors() || !strings.Contains(diags.Error(), c.fails) {
				t.Errorf("%s: %v", c.source, diags)
			}
			continue
		}
		fatal(t, diags)
		if outputs, diags := m.Outputs(nil); diags.HasErrors() || string(outputs[0].Value) != c.want {
			t.Errorf("%s with %q: %v, %v", c.source, c.flag, outputs, diags)
		}
	}
}
