// Package subject holds what a plan is about: a manifest, the state with the
// addresses of now, and the selection that narrows both. Out of those come the
// moves, what no manifest declares any more, and which addresses are wanted.
package subject
