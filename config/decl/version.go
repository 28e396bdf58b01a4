package decl

import (
	version "github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"

	"deployster/config/refs"
	"deployster/config/source"
)

// checkVersion compares required_version with the version of deployster, and decodes
// the path of the state file.
func (t *Tree) checkVersion(l *loader) hcl.Diagnostics {
	var diags hcl.Diagnostics
	var stateAt *hcl.Attribute
	for _, attrs := range l.settings {
		for _, name := range []string{"required_version", "state"} {
			a := attrs[name]
			if a == nil {
				continue
			}
			text, ok := refs.ConstantText(a.Expr)
			if !ok {
				diags = append(diags, source.Failure(a.Expr.Range(), "Not a constant", "The value of %s must be a text constant in quotes.",
					name))
				continue
			}
			if name == "required_version" {
				diags = append(diags, t.requireVersion(text, a.Expr.Range())...)
				continue
			}
			if stateAt != nil {
				diags = append(diags, twice("state file", text, stateAt.Range, a.Range))
			}
			stateAt, t.StatePath, t.StateAt = a, text, a.Expr.Range()
		}
	}
	return diags
}

func (t *Tree) requireVersion(constraint string, r hcl.Range) hcl.Diagnostics {
	c, err := version.NewConstraint(constraint)
	if err != nil {
		return hcl.Diagnostics{source.Failure(r, "Invalid version constraint",
			"%q is not a version constraint. Write, for example, \">= 0.1\", \"~> 1.2\" or \">= 1.0, < 2.0\".", constraint)}
	}
	have, err := version.NewVersion(t.Set.Builtins.Version)
	if err != nil || c.Check(have.Core()) {
		return nil // a build without a version satisfies every constraint
	}
	return hcl.Diagnostics{source.Failure(r, "Another version is required",
		"This manifest requires deployster %s, and this is %s. Install a version that fits, or change required_version.", constraint,
		t.Set.Builtins.Version)}
}
