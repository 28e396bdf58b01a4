// Package refs owns what an expression refers to and calls, and how it is built. An
// Index finds the facts of each expression once. In goes an expression with a way to
// its text (JSON syntax has references within strings); out come References, in the
// order in which they are written. What they lead to is for others to say.
package refs
