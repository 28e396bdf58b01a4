package remote

import "deployster/internal/runtime/runner"

// Block is the first line that deployster-kube gets: the block of a host, and the host's name, which Pods have as a label.
type Block struct {
	runner.Cluster
	Host string `json:"host,omitempty"`
}
