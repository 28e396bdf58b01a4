// Package mutation builds tests of this module with a fault put into its source,
// to show that the tests see it. Tests and a Fault, which is a change at one place of
// a declaration, come in; a failed test comes out where the fault is not seen. The
// sources stay as they are: the compiler reads the changed file through an overlay.
//
// A package has its faults in testdata/mutants.txt:
//
//	in apply run.forget
//		a forget is on record
//			if Removed => $ && false
//			seen by TestRun_WhatCannotBeRecordedIsReported
//
// The first line names a package by its directory, and a function, a method as
// Type.method, a type or a variable; the next ones a fault, its place and change, and
// what the test of the list needs. Deeper lines continue a change.
//
// A place is a chain of steps, each within the one before: `if Lineage > return`. A
// step is a kind of code with names that it must have, and names one place, else the
// fault is not valid. The kinds, and what a change replaces:
//
//	if, case, for     the condition, or what is ranged over
//	set, target       the right and the left side of an assignment
//	return            the results
//	call              a call, whose function has the first name
//	operand           an operand of && or ||
//	key               a value in a composite literal, whose key is the first name
//	name, text        an identifier, a literal
//	statement, defer  a statement without a body; the keyword
//	tag               the tag of the field of that name
//
// `then NAMES` must be in the body, `after NAMES` in the statement before an if, and
// `#2` takes the second of several. Names of local variables, parameters and receivers
// do not count: these may change without a change of a fault. Of code within code of
// the same kind, the innermost counts.
//
// The change is Go, in which $ is what was there, $1 to $9 its operands, arguments
// or values, $f the function that it calls, and $r the receiver; or it is -, which
// removes an operand, a statement, the keyword defer, or a key with its value.
package mutation
