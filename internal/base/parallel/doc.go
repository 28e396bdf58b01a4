// Package parallel owns ways to run functions concurrently: work on many items, divided among
// all processors (For); a function that may never end and can be abandoned (Pool); one whose
// stack must not stay (Apart); and timers that fire together (Aligned): a process that watches many quiet programs wakes up as often
// as for one, which is most of what that takes. Functions come in, their results go out, in
// the order of their arguments.
package parallel
