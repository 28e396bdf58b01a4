// Package diag owns the one form in which every part of the tool reports a problem: what
// happened, where, and what to do now. Errors and places in sources come in, diagnostics
// go out, each with its own source lines, so that code that prints it needs no files.
package diag
