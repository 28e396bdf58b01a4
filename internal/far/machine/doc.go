// Package machine implements far.Place for this machine, with a runtime that runs
// images. The holder of a state, which the client names, decides who may act for that
// state. The package owns the fences, one for each state, and the facts of the machine.
package machine
