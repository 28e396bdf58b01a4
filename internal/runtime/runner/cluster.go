package runner

import "cmp"

// Cluster is a namespace of a Kubernetes cluster: the place of a host whose containers are Pods.
// Its JSON has the names of the block kubernetes of a manifest. Sizes are in bytes, times in
// seconds. The zero value of a limit means the default that the manual names.
type Cluster struct {
	Namespace        string            `json:"namespace"`
	Agent            string            `json:"agent"`                // the image of deployster-pod, with a digest
	Context          string            `json:"context,omitempty"`    // of the kubeconfig; "" = its current one
	Kubeconfig       string            `json:"kubeconfig,omitempty"` // "" = KUBECONFIG, ~/.kube/config, or the Pod's own account
	ServiceAccount   string            `json:"service_account,omitempty"`
	ImagePullSecrets []string          `json:"image_pull_secrets,omitempty"`
	Registries       map[string]string `json:"registries,omitempty"` // from a prefix of a repository to the one that nodes use
	NodeSelector     map[string]string `json:"node_selector,omitempty"`
	Tolerations      []Toleration      `json:"tolerations,omitempty"`
	Labels           map[string]string `json:"labels,omitempty"`
	Annotations      map[string]string `json:"annotations,omitempty"`
	PriorityClass    string            `json:"priority_class,omitempty"`
	RuntimeClass     string            `json:"runtime_class,omitempty"`
	CPU              float64           `json:"cpu,omitempty"`    // of a Pod whose type has no limit
	Memory           int64             `json:"memory,omitempty"` // of a Pod whose type has no limit
	MaxPods          int               `json:"max_pods,omitempty"`
	StartTimeout     int               `json:"start_timeout,omitempty"`
	StopTimeout      int               `json:"stop_timeout,omitempty"`
	NetworkPolicy    bool              `json:"network_policy,omitempty"` // the cluster enforces policies of networks
}

// DefaultMaxPods is the default of Cluster.MaxPods.
const DefaultMaxPods = 20

// Most returns how many Pods of one command run at a time.
func (c Cluster) Most() int { return cmp.Or(c.MaxPods, DefaultMaxPods) }

// Address returns CONTEXT/NAMESPACE, or NAMESPACE in the current context of the kubeconfig.
func (c Cluster) Address() string {
	if c.Context == "" {
		return c.Namespace
	}
	return c.Context + "/" + c.Namespace
}

// Toleration lets Pods run on nodes with a taint.
type Toleration struct {
	Key      string `json:"key,omitempty"`
	Operator string `json:"operator,omitempty"`
	Value    string `json:"value,omitempty"`
	Effect   string `json:"effect,omitempty"`
	Seconds  *int64 `json:"toleration_seconds,omitempty"`
}
