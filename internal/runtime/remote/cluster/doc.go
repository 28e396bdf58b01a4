// Package cluster connects to a namespace of a Kubernetes cluster: it starts
// deployster-kube, which talks to the API server, so that this program knows no client of
// Kubernetes. A host comes in, a client of deployster-kube goes out.
package cluster
