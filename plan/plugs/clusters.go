package plugs

import (
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// inCluster returns the mount of a plug for a Pod. The path is checked by its form: whether the object
// exists is known when a Pod starts.
func inCluster(r *config.Resource, want protocol.PlugRequest, plug config.Plug) (runner.Mount, diag.Diagnostics) {
	written := plug.Path
	if plug.Home != "" {
		written = plug.Home
	}
	path, err := runner.ParseClusterPath(written)
	if err != nil {
		why := err.Error()
		d := plugError(r, "Not a plug of a cluster", "%s. The resource is on %s, and gets the plug %q.", strings.ToUpper(why[:1])+why[1:],
			r.Settings.Host.Name, plug.Name)
		at := plug.Range
		d.Range = &at
		return runner.Mount{}, diag.Diagnostics{d}
	}
	if want.Writable && !path.Writable() {
		return runner.Mount{}, diag.Diagnostics{plugError(r, "Plug is read-only",
			"The image %s needs to write to the plug %q, which is the %s "+
				"%s of a cluster: a Pod only reads it.", r.TypeRef, plug.Name, path.Kind, path.Name)}
	}
	writable := path.Writable() && !plug.ReadOnly && (want.Writable || want.AnyMode)
	return runner.Mount{Source: plug.Path, Target: want.ContainerPath, Writable: writable}, nil
}
