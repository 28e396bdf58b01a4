// Package worker carries out invocations in workers: programs that are started once, in
// a container, and then serve many requests concurrently. A request is a line of JSON
// on stdin; the replies are lines on stdout (docs/protocol.md, section 7). The package
// owns the workers of a command. The invocations of the protocol's client come in, and
// the same results go out as without a worker.
package worker
