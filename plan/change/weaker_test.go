package change

import (
	"strings"
	"testing"

	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

func TestWeaker_NamesWhatClustersDoNotEnforce(t *testing.T) {
	t.Parallel()
	jobs := &runner.Host{Name: "jobs", Kubernetes: &runner.Cluster{}}
	strict := &runner.Host{Name: "strict", Kubernetes: &runner.Cluster{NetworkPolicy: true}}
	mounts := []runner.Mount{{Source: "/secret/gcp-sa", Target: "/sa"}, {Source: "/pvc/data", Target: protocol.PlugsDir + "data"},
		{Source: "/configmap/x", Target: "/x"}, {Source: artifact.MountSource("key", ""), Target: "/site"}}
	ty := protocol.Type{Plugs: map[string]protocol.PlugRequest{"sa": {ContainerPath: "/sa"}}}
	for _, c := range []struct {
		settings runner.Settings
		mounts   []runner.Mount
		want     string
	}{
		{runner.Settings{}, mounts, ""},
		{runner.Settings{Host: &runner.Host{Name: "web"}}, mounts, ""},
		{runner.Settings{Host: jobs}, mounts, `limit of processes, plug "sa" not checked, plug "data" not checked, plug /configmap/x not ` +
			`checked, network shared with the Pod only, init with a network`},
		{runner.Settings{Host: strict, Network: runner.NoNetwork, Disk: 1 << 30}, nil, "limit of processes, limit of disk but by eviction"},
	} {
		if got := strings.Join(Weaker(c.settings, c.mounts, ty), ", "); got != c.want {
			t.Errorf("%+v:\n got %s\nwant %s", c.settings, got, c.want)
		}
	}
}
