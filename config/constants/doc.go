// Package constants evaluates the sources of modules, which are read before anything else is evaluated. An expression and the
// variables that are constants come in; a text goes out, or an error with its place.
package constants
