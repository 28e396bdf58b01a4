// Package explain says what makes a step of a plan what it is: a plan, its manifest
// and the state go in, the inputs of values and what the step waits for come out.
package explain
