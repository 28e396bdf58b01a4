// Package subject owns what a plan is about. A manifest, the state with the addresses of
// now, and the selection that narrows both come in; out go
// the moves, what no manifest declares any more, and which addresses are wanted.
package subject
