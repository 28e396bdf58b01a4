package answers

// notify reads the command of an image that sends notifications, and reports whether it is one. With
// states it has the command of a resource type too.
func (a initAnswer) notify(states bool) bool {
	if !a.has("notify") {
		return false
	}
	n := a.object("notify")
	if n == nil {
		return true
	}
	c := command(n)
	n.Done()
	a.ty.Notify = &c
	switch {
	case a.ty.Protocol == 1:
		a.Problem("the key \"notify\" belongs to protocol 2, but by its other keys the answer is of protocol 1; set \"protocol\": 2")
	case states:
		a.Problem("\"notify\" and \"state_action\" exclude each other: an image sends notifications, or is a resource type")
	case c.Image != "":
		a.Problem("\"notify\" names another image, which is not allowed for notifications")
	case c.Entrypoint == "" && len(c.Args) == 0:
		a.Problem("\"notify\" must differ from init: give at least one of entrypoint, args")
	}
	for _, key := range []string{"plugs", "plugs_in", "watch_action", "discover_action", "validate_action",
		"worker", "batch", "guard", "state_schema",
		"identity",
		"kind", "auto_edges", "absent", "repair", "refresh", "memory", "unknowns", "independent", "reuse", "reuse_actions", "needs",
		"dependencies"} {
		if a.has(key) {
			a.Problem("\"notify\" and %q exclude each other: what sends notifications has neither states nor plugs", key)
		}
	}
	return true
}
