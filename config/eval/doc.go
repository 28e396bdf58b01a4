// Package eval evaluates expressions: against the states that are known, in the Scope
// of one instance. An Evaluator belongs to one goroutine and keeps each named value that
// it found. Modules are the instances that exist; they are here and not in expand,
// because they grow while for_each of one block is evaluated from another's instances.
// In go expressions and States; out come values, JSON with what is unknown in it and
// why, results of conditions, and where a value comes from.
package eval
