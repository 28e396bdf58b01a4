// Package state is the tool's memory: the resources as they were last seen VALID, and
// what is needed to destroy them. It never decides whether a resource is valid; its image
// does. A Place comes in; a Snapshot goes out, and a Store, which alone may change it.
// The state file is replaced as a whole. During an apply each fact is first written to a
// journal; if the process is killed, the next command folds the journal into the state.
package state
