// Package explain reports why a step of a plan is as it is. It takes a plan, its manifest and
// the state, and returns the inputs of config values and what the step waits for.
package explain
