package answers

import (
	"slices"

	"deployster/protocol"
)

// maxOperations is how many operations or actions a type may declare.
const maxOperations = 100

// abilities reads the names of the actions and the operations of a type.
func (a initAnswer) abilities() {
	a.ty.Actions = a.texts("actions")
	if n := len(a.ty.Actions); a.has("actions") && (n == 0 || n > maxOperations || slices.Contains(a.ty.Actions, "")) {
		a.Problem("\"actions\" must have 1 to %d names, like [\"create\", \"remove\"]", maxOperations)
	}
	all := a.entries("operations")
	if all == nil {
		return
	}
	a.ty.Operations = map[string]protocol.Operation{}
	for _, name := range all.keys() {
		o := all.object(name)
		if o == nil {
			return
		}
		changes := o.flag("changes", true)
		one := protocol.Operation{Label: o.Text("label"), Args: o.texts("args"), ConfigSchema: schema(o, "config_schema"),
			Changes: &changes, Idempotent: o.flag("idempotent", false)}
		switch {
		case !plugName(name) || len(name) > maxName:
			a.Problem("%q is not a valid name for an operation: a letter, then letters, digits, _ and -", name)
		case len(one.Args) == 0:
			o.Problem("%q must differ from init: give it \"args\"", o.path)
		case slices.Equal(one.Args, a.ty.StateAction.Args) && a.ty.StateAction.Image == "" && a.ty.StateAction.Entrypoint == "":
			o.Problem("%q must differ from \"state_action\"", o.path)
		}
		o.Done()
		a.ty.Operations[name] = one
	}
	if len(a.ty.Operations) > maxOperations {
		a.Problem("\"operations\" has %d entries, and may have at most %d", len(a.ty.Operations), maxOperations)
	}
}
