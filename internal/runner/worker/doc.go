// Package worker carries out invocations in workers: programs that are started
// once, in a container, and then serve many requests at a time, each a line of
// JSON on stdin, answered by lines on stdout (docs/protocol.md, section 7). It
// stands between whoever speaks the protocol and the runner of containers, and
// what comes out is the same as without it.
package worker
