// Package funcs owns the functions that expressions may call, under the names and with
// the results that they have in Terraform. Values come in, values and errors go out.
// Each function is bounded: in what it takes, in what it makes, and so in its time and
// memory. None looks at the clock, at randomness or at files but through what the
// package is given, so that the same manifest gives the same values again when a saved
// plan is applied.
package funcs
