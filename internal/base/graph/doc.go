// Package graph orders things that depend on each other. A Graph of names comes
// in; its layers go out, or a Frontier that says what is ready, Limits of how much
// may run, and a Pool that runs it. It owns the order only: all but the Pool is
// pure data, with no goroutine and no clock, so that every order it gives can be
// tested as a value.
package graph
