// Package containers has the kind container: a service of systemd that runs a container by the
// machine's own podman, docker or nerdctl. It knows what the three have in common.
package containers
