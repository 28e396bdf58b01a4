// Package agent owns the first process of a container that queries share: it starts
// their programs when it is asked to, each as a child of its own, which so has all that
// the container was made with. Requests come in over a socket, exit codes go out. It
// stands by itself because its program runs inside every such container, where it is to
// be small.
package agent
