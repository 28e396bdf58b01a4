// Package idlepool is the part of the embedded server that keeps workers between
// commands, and the client of it. Workers with their two open files come in, and go
// out to the next command that wants the same: who has the files owns the worker, so
// that there is no moment with two owners.
package idlepool
