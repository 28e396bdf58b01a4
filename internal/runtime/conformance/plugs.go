package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// mounts returns the mounts for the plugs of a type, or an error if a plug is missing.
func mounts(ty protocol.Type, plugs map[string]Plug) ([]runner.Mount, error) {
	if len(ty.RequiredResources) > 0 {
		return nil, diag.Errorf("The type needs other resources",
			"The image needs dependencies (%s), which this test does not have. Test it in a manifest, with `deployster plan` and "+
				"`deployster apply`.",
			strings.Join(slices.Sorted(maps.Keys(ty.RequiredResources)), ", "))
	}
	var list []runner.Mount
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(ty.Plugs)) {
		want := ty.Plugs[name]
		plug, given := plugs[name]
		switch {
		case !given && !want.Optional:
			missing = append(missing, fmt.Sprintf("-plug %s=PATH (seen in the container at %s)", name, want.ContainerPath))
			continue
		case !given:
			continue
		case plug.ReadOnly && want.Writable && !want.AnyMode && !want.Optional:
			return nil, diag.Errorf("Plug is read-only",
				"The image needs to write to the plug %q, which is given as read only: leave out :ro.", name)
		}
		list = append(list, runner.Mount{Source: plug.Path, Target: want.ContainerPath,
			Writable: want.Writable && !plug.ReadOnly})
	}
	if len(missing) > 0 {
		lines := ""
		for _, m := range missing {
			lines += "\n" + m
		}
		return nil, diag.Errorf("Missing plug", "The image needs files or directories of this host. Name them:%s", lines)
	}
	for _, name := range slices.Sorted(maps.Keys(plugs)) {
		if _, asked := ty.Plugs[name]; !asked {
			return nil, diag.Errorf("No such plug", "The image has no plug %q. %s", name, asksFor(ty))
		}
	}
	return list, nil
}

func asksFor(ty protocol.Type) string {
	if len(ty.Plugs) == 0 {
		return "It has no plugs."
	}
	text := "Its plugs:"
	for _, name := range slices.Sorted(maps.Keys(ty.Plugs)) {
		text += " " + name
	}
	return text + "."
}
