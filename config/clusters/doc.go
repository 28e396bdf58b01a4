// Package clusters checks what a manifest has of a Kubernetes cluster: names, labels, repositories and
// tolerations, by their forms. Values come in; settings, or errors go out without a request to a cluster.
package clusters
