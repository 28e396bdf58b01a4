// Package order says what an apply does, node by node, and what must be done before
// each, and visits nodes in that order, in parallel.
//
// A node is the beginning of a resource (it is asked for, adopted, made or changed),
// the end of what is there before it is made again, a barrier, or the question
// whether something is still there after a barrier. In go the resources of a plan,
// its edges and its barriers; out come graphs.
package order
