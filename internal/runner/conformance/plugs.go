package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/runner"
	"deployster/protocol"
)

// mount adds the plugs to the target, and returns an error when one is missing.
func (e *engine) mount() error {
	if len(e.ty.RequiredResources) > 0 {
		return diag.Errorf("The type needs other resources",
			"The image asks for dependencies (%s), which this test has none of. Test it in a manifest, with `deployster plan` and `deployster "+
				"apply`.",
			strings.Join(slices.Sorted(maps.Keys(e.ty.RequiredResources)), ", "))
	}
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(e.ty.Plugs)) {
		want := e.ty.Plugs[name]
		plug, given := e.o.Plugs[name]
		switch {
		case !given && !want.Optional:
			missing = append(missing, fmt.Sprintf("-plug %s=PATH (seen in the container at %s)", name, want.ContainerPath))
			continue
		case !given:
			continue
		case plug.ReadOnly && want.Writable && !want.AnyMode && !want.Optional:
			return diag.Errorf("Plug is read-only", "The image wants to write to the plug %q, which is given to be read only: leave out :ro.", name)
		}
		e.target.Mounts = append(e.target.Mounts, runner.Mount{Source: plug.Path, Target: want.ContainerPath,
			Writable: want.Writable && !plug.ReadOnly})
	}
	if len(missing) > 0 {
		list := ""
		for _, m := range missing {
			list += "\n" + m
		}
		return diag.Errorf("Missing plug", "The image asks for files or directories of this host. Say which:%s", list)
	}
	for _, name := range slices.Sorted(maps.Keys(e.o.Plugs)) {
		if _, asked := e.ty.Plugs[name]; !asked {
			return diag.Errorf("No such plug", "The image does not ask for a plug %q. %s", name, asksFor(e.ty))
		}
	}
	return nil
}

func asksFor(ty protocol.Type) string {
	if len(ty.Plugs) == 0 {
		return "It asks for none."
	}
	text := "It asks for:"
	for _, name := range slices.Sorted(maps.Keys(ty.Plugs)) {
		text += " " + name
	}
	return text + "."
}
