// Package limits limits what a manifest may cost: the files before a recursive parser reads
// them, the values that expressions compute, and the work of computing them. Its functions
// take sources, documents and values, and return an error if one is too large. A Go program
// survives neither a stack overflow nor the loss of all memory, so it must stay far away
// from both.
package limits
