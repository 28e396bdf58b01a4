// Package worker carries out invocations in workers: programs that are started
// once, in a container, and then serve many requests at a time, each a line of JSON
// on stdin, answered by lines on stdout (docs/protocol.md, section 7). It owns the
// workers of a command: in come the invocations of whoever speaks the protocol, out
// go the same results as without a worker.
package worker
