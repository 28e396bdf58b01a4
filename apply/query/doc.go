// Package query queries the states of objects while an apply runs, with what has become known in
// it. A step of the plan and its config come in, the observation of its object goes out. It owns
// which entry is that of a step's object, which states an expression may use, and what must not be
// shown of a state. It runs no action, and records nothing.
package query
