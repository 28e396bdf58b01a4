// Package records is the command `runs`: it gets the engine of a command, and prints what
// earlier runs recorded. It changes nothing.
package records
