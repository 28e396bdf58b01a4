// Package machine is this machine as a far.Place: a runtime that runs images comes
// in, and whoever has the state that a client names decides who may use it. It owns
// the fences, one for each state, and the facts of the machine.
package machine
