// Package order reports what an apply does, node by node, and what must be done before
// each, and visits nodes in that order, in parallel.
//
// A node is the beginning of a resource (it is queried, adopted, created or changed, or
// removed), the end of the old object of a replaced resource, a barrier, or the query
// whether an object still exists after a barrier. The package takes the resources of a
// plan, its edges and its barriers, and returns graphs.
package order
