// Package recall owns what an image is told of what is recorded of its thing: the state,
// the memory, and the actions of which nobody knows what they made. In come entries
// and unsettled actions of the state file; out goes a part of a StateInput.
package recall
