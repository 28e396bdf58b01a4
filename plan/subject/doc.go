// Package subject owns what a plan covers. It takes a manifest, the state and the
// selection that narrows both. It returns the moves, the entries that no manifest
// declares any more, and which addresses are selected.
package subject
