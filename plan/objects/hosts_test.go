package objects

import (
	"strings"
	"testing"

	"deployster/config"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
	"deployster/state"
)

// An entry keeps its host where several hosts are one namespace of a cluster.
func TestHosts_OfOneNamespaceKeepTheirEntries(t *testing.T) {
	t.Parallel()
	text := ""
	for _, name := range []string{"a", "b"} {
		text += `host "` + name + `" {
  kubernetes {
    namespace = "deployster"
    agent     = "registry.example/agent@sha256:` + strings.Repeat("a", 64) + `"
  }
}
`
	}
	src := config.Sources{Workspace: t.TempDir(), Manifests: []config.File{{Path: "main.hcl", Bytes: []byte(text)}},
		Hosts: map[string]protocol.HostFacts{"a": {Machine: "uid"}, "b": {Machine: "uid"}}}
	m, diags := config.Load(src, nil, config.Builtins{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	hosts := HostsOf(m, map[string]router.Pin{"a": {Machine: "uid"}, "b": {Machine: "uid"}})
	for name, want := range map[string]string{"a": "a", "b": "b", "gone": "a"} {
		on := hosts.Place(state.Entry{Settings: runner.Settings{Host: &runner.Host{Name: name, Machine: "uid"}}}).Settings.Host
		if on.Name != want || on.Kubernetes == nil {
			t.Errorf("%s: on %+v, want %s", name, on, want)
		}
	}
}
