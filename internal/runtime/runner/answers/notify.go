package answers

import "deployster/protocol"

// readNotify reads the command of an image that sends notifications, and reports whether it is one. With
// states it has the command of a resource type too.
func readNotify(f *Fields, ty *protocol.Type, states bool) bool {
	if !f.has("notify") {
		return false
	}
	n := f.object("notify")
	if n == nil {
		return true
	}
	c := command(n)
	n.Done()
	ty.Notify = &c
	switch {
	case ty.Protocol == 1:
		f.Problem("the key \"notify\" belongs to protocol 2, but by its other keys the answer is of protocol 1; set \"protocol\": 2")
	case states:
		f.Problem("\"notify\" and \"state_action\" exclude each other: an image sends notifications, or is a resource type")
	case c.Image != "":
		f.Problem("\"notify\" names another image, which is not allowed for notifications")
	case c.Entrypoint == "" && len(c.Args) == 0:
		f.Problem("\"notify\" must differ from init: give at least one of entrypoint, args")
	}
	for _, key := range []string{"plugs", "plugs_in", "watch_action", "discover_action", "worker", "batch", "guard", "state_schema",
		"identity",
		"kind", "auto_edges", "absent", "repair", "refresh", "memory", "unknowns", "independent", "reuse", "needs", "dependencies"} {
		if f.has(key) {
			f.Problem("\"notify\" and %q exclude each other: what sends notifications has neither states nor plugs", key)
		}
	}
	return true
}
