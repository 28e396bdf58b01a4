package plugs

import (
	"deployster/config"
	"deployster/internal/base/diag"
)

// content returns the source of a mount of a plug with a content: the plug by its name.
func content(r *config.Resource, plug config.Plug) (string, diag.Diagnostics) {
	if r.Settings.Host.InCluster() {
		return "", diag.Diagnostics{plugError(r, "Not a plug of a cluster",
			"The plug %q has a content, and %s is a cluster. Put the content into a Secret or ConfigMap there, and name it: path = "+
				"\"/secret/NAME\".", plug.Name, r.Settings.Host.Name)}
	}
	return "plug:" + plug.Name, nil
}
