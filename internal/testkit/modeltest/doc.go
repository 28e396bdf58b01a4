// Package modeltest has the world in which the tests of this package let
// random histories happen: manifests that are edited step by step, plans that
// are applied at once or late, actions that fail, interrupts, crashes, and
// people who change things by hand. A model, written from the documentation and
// not from the engine, says after each step what must be true.
package modeltest
