// Package router runs images on this machine, or on the host that the settings of an
// invocation name. Specs come in and go to a runner. A connection is made when it is
// first needed, and again after it was lost. The package decides what happens to an
// invocation whose connection is lost: it repeats a query and adopts an action.
package router
