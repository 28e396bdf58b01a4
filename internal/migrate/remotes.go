package migrate

import (
	"fmt"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/internal/migrate/tfrefs"
)

// remote returns the remote_state block for a data source of terraform_remote_state.
func (e *emitter) remote(b *hclsyntax.Block) string {
	name, at := tfrefs.Clean(b.Labels[1]), b.DefRange()
	if e.module.out != "." {
		e.refuse(at, "Outputs of another state in a module", "%s reads them, and here only the root module does: declare it there, "+
			"and pass what this module needs as a variable.", b.Labels[1])
		return ""
	}
	for _, a := range []string{"count", "for_each", "defaults"} {
		if b.Body.Attributes[a] != nil {
			e.refuse(at, "Unsupported "+tfrefs.RemoteKind, "%s has %s. Remove it; try(%s, DEFAULT) is a value for an output that is "+
				"missing.",
				b.Labels[1], a, "data."+tfrefs.RemoteKind+"."+b.Labels[1]+".outputs.NAME")
			return ""
		}
	}
	e.note(at, "remote_state.%s reads what deployster publishes: migrate that project too, mark the outputs there with export = true, and "+
		"apply", name)
	if where := tfrefs.RemoteURL(b.Body.Attributes); where != "" {
		return fmt.Sprintf("remote_state %q {\n  url = %q\n}", name, where)
	}
	variable := "state_of_" + name
	e.note(at, "var.%s is the URL or the file of the state that remote_state.%s reads", variable, name)
	return fmt.Sprintf("variable %q {\n  description = \"where the state of %s is, a URL or the path of its file\"\n}\n\n"+
		"remote_state %q {\n  url = var.%s\n}", variable, name, name, variable)
}
