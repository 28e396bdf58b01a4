package migrate

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/internal/migrate/tfrefs"
)

// workspaceName is the variable that replaces terraform.workspace, in each module that uses it.
const workspaceName = "terraform_workspace"

// asksWorkspace reports whether a module itself refers to terraform.workspace.
func (d *module) asksWorkspace() (found bool) {
	for _, f := range d.files {
		_ = hclsyntax.VisitAll(f.body, func(n hclsyntax.Node) hcl.Diagnostics { // the function returns no diagnostics
			if x, ok := n.(*hclsyntax.ScopeTraversalExpr); ok && len(x.Traversal) > 1 {
				found = found || x.Traversal.RootName() == "terraform" && tfrefs.Step(x.Traversal[1]) == "workspace"
			}
			return nil
		})
	}
	return found
}
