// Package parallel owns two ways to run things concurrently: work on many things, divided
// among all processors (For), and a function that may never end and can be abandoned
// (Pool). Functions come in, their results go out, in the order of their arguments.
package parallel
