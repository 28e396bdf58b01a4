package expand

import (
	"strings"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/source"
	"deployster/internal/runtime/runner"
)

// impossible is a setting of a type block that no Pod can have, and why.
type impossible struct{ name, why string }

// inCluster returns the settings that no Pod of a cluster can have.
func inCluster(s runner.Settings, c *runner.Cluster) (found []impossible) {
	if s.WholeMachine {
		found = append(found, impossible{"whole_machine", "gives its containers a whole machine, and a Pod has none"})
	}
	if s.PIDs != 0 {
		found = append(found, impossible{"pids", "limits processes, and only the kubelet of a node can do that for a Pod"})
	}
	for part := range strings.SplitSeq(s.User, ":") {
		if strings.Trim(part, "0123456789") != "" {
			found = append(found, impossible{"user", "names a user or group, and a Pod has them by number: write the numbers, as in " +
				"\"1000:1000\""})
			break
		}
	}
	if s.Network == runner.NoNetwork && !c.NetworkPolicy {
		found = append(found, impossible{"network", "takes the network away, and this cluster is not declared to do so: where it " +
			"enforces the NetworkPolicy deployster-none, write network_policy = true in the kubernetes block"})
	}
	return found
}

// typeInCluster returns an error for each setting of a type block that no Pod on its host can have.
func typeInCluster(attrs hcl.Attributes, s runner.Settings) (diags hcl.Diagnostics) {
	if s.Host == nil || s.Host.Kubernetes == nil {
		return nil
	}
	for _, not := range inCluster(s, s.Host.Kubernetes) {
		diags = append(diags, source.Failure(attrs[not.name].Expr.Range(), "Not possible in a cluster", "The containers of this type are "+
			"Pods on %s. %s %s.", s.Host.Name, not.name, not.why))
	}
	return diags
}

// resourceInCluster returns an error for each setting of a resource's type that no Pod on the
// resource's own host can have.
func resourceInCluster(attr *hcl.Attribute, s runner.Settings) (diags hcl.Diagnostics) {
	if s.Host == nil || s.Host.Kubernetes == nil {
		return nil
	}
	for _, not := range inCluster(s, s.Host.Kubernetes) {
		diags = append(diags, source.Failure(attr.Expr.Range(), "Not possible in a cluster", "The containers would be Pods on %s, and the "+
			"type of this resource has %s, which %s.", s.Host.Name, not.name, not.why))
	}
	return diags
}
