package change

import (
	"fmt"
	"strings"

	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// Weaker returns what a cluster does not enforce of what a machine would, for people to read; nil = the
// containers are not Pods.
func Weaker(s runner.Settings, mounts []runner.Mount, t protocol.Type) []string {
	if !s.Host.InCluster() {
		return nil
	}
	list := []string{"limit of processes"}
	if s.Disk > 0 {
		list = append(list, "limit of disk but by eviction")
	}
	for _, m := range mounts {
		if _, _, versioned := artifact.ParseMount(m.Source); !versioned {
			list = append(list, "plug "+plugAt(m, t)+" not checked")
		}
	}
	if s.Network != runner.NoNetwork {
		list = append(list, "network shared with the Pod only")
	}
	if !s.Host.Kubernetes.NetworkPolicy {
		list = append(list, "init with a network")
	}
	return list
}

// plugAt returns the name of the plug that a mount shows, or its path if the type is not known.
func plugAt(m runner.Mount, t protocol.Type) string {
	for name, want := range t.Plugs {
		if want.ContainerPath == m.Target {
			return fmt.Sprintf("%q", name)
		}
	}
	if name, is := strings.CutPrefix(m.Target, protocol.PlugsDir); is {
		return fmt.Sprintf("%q", name)
	}
	return m.Source
}
