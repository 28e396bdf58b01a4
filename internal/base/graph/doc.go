// Package graph orders nodes that depend on each other. A Graph of names comes in; out
// go its layers, or a Frontier that gives the nodes that are ready, Limits of how many
// may run, and a Pool that runs them. It owns the order only: all but the Pool is pure
// data, with no goroutine and no clock, so that every order can be tested as a value.
package graph
