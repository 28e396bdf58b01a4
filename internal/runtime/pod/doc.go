// Package pod is deployster-pod, the first process of a Pod that runs images of types:
// requests come in over a socket, as hosts get them, and the image's programs run as its
// children. It owns the open actions and their outcomes, which live as long as the
// container, the fence that keeps older clients out, and the traces that outlive the
// container: the termination message of its Pod.
package pod
