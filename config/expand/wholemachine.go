package expand

import (
	"github.com/hashicorp/hcl/v2"

	"deployster/config/decl"
	"deployster/config/source"
	"deployster/internal/runtime/runner"
)

// wholeMachine returns an error for each setting of a type block that confines a container
// which is given the whole machine.
func wholeMachine(t *decl.Block, s runner.Settings) (diags hcl.Diagnostics) {
	if !s.WholeMachine {
		return nil
	}
	refuse := func(conflict bool, name, text, why string) {
		attr := t.Attrs[name]
		if !conflict || attr == nil {
			return
		}
		diags = append(diags, source.Failure(attr.Expr.Range(), "Conflicts with whole_machine",
			"whole_machine = true gives the containers of this type the whole machine, as root, and %s %s. Take %s away to give it the "+
				"whole machine, or remove whole_machine to keep its containers confined.", text, why, name))
	}
	refuse(s.UserNS == runner.AutoUserNS, "userns", `userns = "auto"`, "gives them users that are nobody on the machine")
	refuse(s.Network == runner.NoNetwork, "network", `network = "none"`, "takes the machine's network from them")
	refuse(s.User != "", "user", "user", "makes them another user than root")
	refuse(s.ReadOnlyRootFS, "read_only_rootfs", "read_only_rootfs = true", "makes files read-only")
	for _, name := range []string{"add", "drop"} {
		if attr := t.Capabilities[name]; attr != nil {
			diags = append(diags, source.Failure(attr.Expr.Range(), "Conflicts with whole_machine",
				"whole_machine = true gives the containers of this type all capabilities of the machine's root. Remove the "+
					"capabilities block, or whole_machine."))
			break
		}
	}
	return diags
}
