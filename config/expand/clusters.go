package expand

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/clusters"
	"deployster/config/eval"
	"deployster/config/instance"
	"deployster/config/source"
	"deployster/internal/runtime/runner"
)

// readCluster decodes the kubernetes block of one instance of a host. Its values need no states.
func readCluster(m *eval.Modules, h *instance.Host) hcl.Diagnostics {
	block, c := h.Decl.Kubernetes, &runner.Cluster{}
	a := attrReader{m: m, attrs: block.Attrs, of: "a kubernetes block", at: h.At, repeated: h.Decl}
	text := func(name string, into *string, check func(string) error) {
		a.read(name, cty.String, func(v cty.Value) error { *into = v.AsString(); return check(*into) })
	}
	text("namespace", &c.Namespace, clusters.Namespace)
	text("agent", &c.Agent, checkAgent)
	a.needed("namespace", c.Namespace)
	a.needed("agent", c.Agent)
	text("context", &c.Context, clusters.Context)
	a.read("kubeconfig", cty.String, func(v cty.Value) (err error) {
		c.Kubeconfig, err = configFile(v.AsString(), m.Set.Src.Workspace)
		return err
	})
	text("service_account", &c.ServiceAccount, clusters.Name)
	a.read("image_pull_secrets", cty.List(cty.String), func(v cty.Value) (err error) {
		c.ImagePullSecrets, err = clusters.Names(v)
		return err
	})
	mapping := func(name string, into *map[string]string, check func(key, value string) error) {
		a.read(name, cty.Map(cty.String), func(v cty.Value) (err error) { *into, err = clusters.Texts(v, check); return err })
	}
	mapping("registries", &c.Registries, clusters.Registry)
	mapping("node_selector", &c.NodeSelector, clusters.Label)
	mapping("labels", &c.Labels, clusters.NotOwn(clusters.Label))
	mapping("annotations", &c.Annotations, clusters.NotOwn(func(key, _ string) error { return clusters.Key(key) }))
	a.read("tolerations", cty.DynamicPseudoType, func(v cty.Value) (err error) {
		c.Tolerations, err = clusters.Tolerations(v)
		return err
	})
	text("priority_class", &c.PriorityClass, clusters.Name)
	text("runtime_class", &c.RuntimeClass, clusters.Name)
	a.read("cpu", cty.Number, func(v cty.Value) error {
		n, err := thousandths(v)
		c.CPU = float64(n) / 1000
		return err
	})
	a.read("memory", cty.String, func(v cty.Value) (err error) {
		c.Memory, err = bytesBetween(v.AsString(), minMemory, math.MaxInt64)
		return err
	})
	a.read("max_pods", cty.Number, func(v cty.Value) error {
		n, err := wholeNumber(v, 1, maxPods)
		c.MaxPods = int(n)
		return err
	})
	seconds := func(name string, into *int) {
		a.read(name, cty.String, func(v cty.Value) (err error) { *into, err = wholeSeconds(v.AsString()); return err })
	}
	seconds("start_timeout", &c.StartTimeout)
	seconds("stop_timeout", &c.StopTimeout)
	a.read("network_policy", cty.Bool, func(v cty.Value) error { c.NetworkPolicy = v.True(); return nil })
	if h.Kubernetes = c; c.Namespace != "" && c.Agent != "" {
		h.Address = c.Address()
	}
	return a.diags
}

// needed adds an error for a required attribute whose value is null.
func (a *attrReader) needed(name, value string) {
	if attr := a.attrs[name]; attr != nil && value == "" && !a.diags.HasErrors() && !a.m.Tree.Vars.HasUnset {
		a.diags = append(a.diags, source.Failure(attr.Expr.Range(), "Invalid "+name, "It is null, and a cluster needs it."))
	}
}

// maxPods is the largest number of Pods of one command at a time.
const maxPods = 1000

// checkAgent returns an error for an image of deployster-pod that is not fixed by its digest.
func checkAgent(text string) error {
	if err := checkImage(text); err != nil {
		return err
	}
	return clusters.Digested(text)
}

// configFile makes a relative path of a kubeconfig absolute.
func configFile(path, base string) (string, error) {
	if path == "" {
		return "", errors.New("the path is empty: omit it for KUBECONFIG and ~/.kube/config")
	}
	return keyFile(path, base)
}

// wholeSeconds parses a duration of at least one second; fractions of a second are dropped.
func wholeSeconds(text string) (int, error) {
	d, err := duration(text)
	if err == nil && (d < time.Second || d > maxSpan) {
		return 0, fmt.Errorf("%q is out of range: from 1s to %s", text, maxSpan)
	}
	return int(d / time.Second), err
}

// maxSpan is the longest time that a Pod may take to start or to stop.
const maxSpan = 24 * time.Hour
