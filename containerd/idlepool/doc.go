// Package idlepool is the part of the embedded server that keeps idle workers between
// commands, and its client. Workers with their two open files come in, and go out to the
// next command that needs one like them: whoever has the files owns the worker, so that
// it never has two owners.
package idlepool
