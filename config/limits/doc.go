// Package limits owns what a manifest may cost: what is read before a recursive parser
// sees it, the values that expressions make, and the work of making them. Sources,
// documents and values come in; an error goes out where one is too large. A Go program
// survives neither a stack overflow nor the loss of all memory, so that both must be
// known to be far away before they begin.
package limits
