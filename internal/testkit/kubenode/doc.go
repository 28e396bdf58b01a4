// Package kubenode runs a Kubernetes of one node for tests: etcd, API server, controllers, scheduler, kubelet and
// containerd, built from their Go modules, with a registry beside them.
//
// It owns the namespaces (network, mounts, processes) and the control groups that all of it runs in, together with the
// test itself, so that nothing is left when the test ends, however it ends. It needs root.
package kubenode
