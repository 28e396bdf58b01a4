// Package eval evaluates expressions against the known states, in the Scope of one
// instance. An Evaluator belongs to one goroutine and caches each named value that it
// evaluated. Modules holds the instances that exist; it is here and not in expand, because
// it grows while for_each of one block is evaluated from the instances of another. The
// inputs are expressions and States, the results cty values; trace finds where they come
// from, and results makes JSON of them.
package eval
