package apply_test

import (
	"strings"
	"sync"
	"testing"

	"deployster/apply"
	"deployster/internal/runtime/remote/router"
)

// An action in a cluster that has a Pod of its own is reported with it; one on a machine is not.
func TestRun_NamesPodsOfActions(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	e.pins = map[string]router.Pin{"jobs": {Machine: "uid"}, "web": {Machine: "m1"}}
	e.opts.Pod = func(key string) string { return "pod of " + key }
	pods := map[string]string{}
	var mu sync.Mutex
	e.opts.Events = func(ev apply.Event) {
		mu.Lock()
		defer mu.Unlock()
		if a, is := ev.(apply.ActionStarted); is {
			pods[a.Address] = a.Pod
		}
	}
	e.opts.Parallelism = 1
	e.do(t, `
host "jobs" {
  kubernetes {
    namespace = "deployster"
    agent     = "registry.example/agent@sha256:`+strings.Repeat("a", 64)+`"
  }
}
host "web" { address = "10.0.0.5" }
`+strings.Replace(thing("there"), "  config", "  host = host.jobs\n  config", 1)+strings.Replace(thing("here"), "  config", "  host = host.web\n  config", 1))
	if got := pods["there"]; !strings.HasPrefix(got, "pod of ") {
		t.Errorf("the Pod is %q", got)
	}
	if got, started := pods["here"]; !started || got != "" {
		t.Errorf("on a machine the Pod is %q", got)
	}
}
