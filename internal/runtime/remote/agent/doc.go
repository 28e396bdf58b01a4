// Package agent implements far.Place for this machine, with a runtime that runs
// images. A client names its state, and only the latest holder of a state may act. The
// package owns the fences, one for each state, and the facts of the machine.
package agent
