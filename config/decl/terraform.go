package decl

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/refs"
)

// TerraformHint returns what to write instead of a reference that begins with a name
// from Terraform, "" if it does not.
func (b *Module) TerraformHint(t hcl.Traversal) string {
	root, name := t.RootName(), refs.StepName(t, 1)
	switch {
	case root == "data":
		return "There are no data sources: resource.NAME.state is what a resource reported."
	case root == "terraform" && name == "workspace":
		return "There are no workspaces: give each its directory or its state file, and write a variable for its name. " +
			"deployster.workspace is the working directory."
	case root == "terraform":
		return "The tool's own values are deployster.version, deployster.verbose and deployster.workspace."
	case root == "self":
		return "A resource cannot refer to itself by self: write resource.NAME.state, in an output for example."
	case name != "" && b.Resources[name] != nil && !slices.Contains([]string{"var", "local"}, root):
		return fmt.Sprintf("A reference to a resource does not begin with its type. Did you mean resource.%s.state%s?", name,
			refs.TraversalString(t[2:]))
	}
	return ""
}
