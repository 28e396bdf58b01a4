// Package agent is the first process of a container that queries share: it starts their
// programs on request, each as a child process, which so has the whole configuration of
// the container. Requests come in over a socket, exit codes go out. The package depends
// on no other, because its program runs inside every such container, where it must be
// small.
package agent
