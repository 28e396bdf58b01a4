// Package parallel owns two ways to run things side by side: work on many things, shared
// out to all processors (For), and a function that may never end, which can be abandoned
// (Pool). Functions come in, their results go out, in the order of what they were called
// with.
package parallel
