package config

import (
	"fmt"
	"strings"
	"testing"
)

// A part of a variable cannot be sensitive: a saved plan holds its value without marks.
func TestVariable_SensitiveDefault(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ variable, want string }{
		{`default = sensitive("defsecret")`, "Sensitive default"},
		{`default = { user = "u", pw = sensitive("defsecret") }`, "Sensitive default"},
		{"sensitive = true\n  default = sensitive(\"defsecret\")", ""},
	} {
		_, diags := Load(inMemory(t, map[string]string{"main.hcl": "variable \"d\" {\n  " + c.variable + "\n}\n"}), nil, Builtins{})
		got := ""
		for _, d := range diags {
			got += d.Summary
		}
		if got != c.want || strings.Contains(fmt.Sprint(diags), "defsecret") {
			t.Errorf("%s\n%v, want %q", c.variable, diags, c.want)
		}
	}
}
