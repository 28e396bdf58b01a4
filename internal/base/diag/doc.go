// Package diag owns the one form in which every part of the tool says what went wrong:
// what happened, where, and what to do now. Errors and places in sources come in,
// diagnostics go out, each with its own source line, so that whoever prints it needs no
// files.
package diag
