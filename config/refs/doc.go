// Package refs finds what an expression refers to and calls, and how it is built. An
// Index finds the facts of each expression once. Its inputs are an expression and access
// to its text (JSON syntax has references within strings); its results are References, in
// the order in which they occur. Other packages resolve them.
package refs
