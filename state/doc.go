// Package state is the tool's memory: what was last recorded as VALID, and what
// is needed to destroy it. It never decides whether a resource is right; reality
// does. A Place comes in; a Snapshot goes out, and a Store that alone may change
// it. The state is replaced as a whole; during an apply each fact goes to a
// journal first, which the next command folds in when the process did not live
// to do so.
package state
