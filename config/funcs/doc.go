// Package funcs has the functions that expressions may call, with the names and results
// that they have in Terraform, and what && and || do with null. They take values, and return values and errors. Each function
// is limited in its arguments and its result, and so in its time and memory. A function
// reads the clock, randomness and files only through what the package is given, so that
// the same manifest gives the same values again when a saved plan is applied.
package funcs
