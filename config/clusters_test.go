package config

import (
	"encoding/json"
	"strings"
	"testing"

	"deployster/internal/runtime/runner"
)

// digestOf is the digest of an image in tests.
var digestOf = "@sha256:" + strings.Repeat("a", 64)

func TestClusters_AreHostsWithNamespace(t *testing.T) {
	t.Parallel()
	m := load(t, `
variable "spaces" { default = { a = "one", b = "two" } }
host "jobs" {
  labels = { env = "prod" }
  kubernetes {
    namespace          = "deployster"
    agent              = "registry.example/deployster-pod`+digestOf+`"
    context            = "prod"
    kubeconfig         = "kube/config"
    service_account    = "types"
    image_pull_secrets = ["registry"]
    registries         = { "docker.io" = "mirror.example/hub" }
    node_selector      = { pool = "ops" }
    tolerations        = [{ key = "ops", operator = "Exists", effect = "NoExecute", toleration_seconds = 60 }, { operator = "Exists" }]
    labels             = { "acme.example/team" = "infra" }
    annotations        = { "sidecar.istio.io/inject" = "false" }
    priority_class     = "batch"
    runtime_class      = "gvisor"
    cpu                = 0.1
    memory             = "256MiB"
    max_pods           = 20
    start_timeout      = "5m"
    stop_timeout       = "10m"
    network_policy     = true
  }
}
host "each" {
  for_each = var.spaces
  kubernetes {
    namespace = each.value
    agent     = "registry.example/deployster-pod`+digestOf+`"
  }
}
host "n" {
  count = 1
  kubernetes {
    namespace = "n${count.index}"
    agent     = "registry.example/deployster-pod`+digestOf+`"
  }
}
type "db" {
  image   = "acme/db:1"
  host    = host.jobs
  user    = "1000:1000"
  network = "none"
}
resource "main" {
  type   = type.db
  config = { at = host.jobs.address }
}
`)
	var got []string
	for _, h := range m.Hosts() {
		got = append(got, h.Name+" "+h.Address)
	}
	if text := strings.Join(got, ", "); text != `each["a"] one, each["b"] two, jobs prod/deployster, n[0] n0` {
		t.Error(text)
	}
	text, err := json.Marshal(m.Hosts()[2].Kubernetes)
	want := `{"namespace":"deployster","agent":"registry.example/deployster-pod` + digestOf + `","context":"prod","kubeconfig":"` +
		m.Sources().Workspace + `/kube/config","service_account":"types","image_pull_secrets":["registry"],"registries":{"docker.io":` +
		`"mirror.example/hub"},"node_selector":{"pool":"ops"},"tolerations":[{"key":"ops","operator":"Exists","effect":"NoExecute",` +
		`"toleration_seconds":60},{"operator":"Exists"}],"labels":{"acme.example/team":"infra"},"annotations":{"sidecar.istio.io/inject":` +
		`"false"},"priority_class":"batch","runtime_class":"gvisor","cpu":0.1,"memory":268435456,"max_pods":20,"start_timeout":300,` +
		`"stop_timeout":600,"network_policy":true}`
	if err != nil || string(text) != want {
		t.Errorf("%v\n got %s\nwant %s", err, text, want)
	}
	if c := config(t, m, "main", nil); string(c.Value) != `{"at":"prod/deployster"}` {
		t.Errorf("%s", c.Value)
	}
	if h := m.Resource("main").Settings.Host; h.Kubernetes == nil || !h.SameWay(m.Hosts()[2].Host) {
		t.Errorf("%+v", h)
	}
	if other := (runner.Host{Name: "jobs", Kubernetes: &runner.Cluster{Namespace: "deployster"}}); other.SameWay(m.Hosts()[2].Host) {
		t.Error("a cluster with other settings is reached in the same way")
	}
}

func TestClusters_WithUnsetVariableAreNotKnownYet(t *testing.T) {
	t.Parallel()
	m, diags := loadManifest(sources(t.TempDir(), `
variable "ns" {}
host "jobs" {
  kubernetes {
    namespace = var.ns
    agent     = "registry.example/deployster-pod`+digestOf+`"
  }
}
`), nil, Builtins{}, true)
	fatal(t, diags)
	if h := m.Hosts()[0]; h.Address != "" || h.Kubernetes == nil {
		t.Errorf("%+v", h)
	}
}
