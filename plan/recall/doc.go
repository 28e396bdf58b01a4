// Package recall owns what an image is told of the entry of its thing: the state, the
// memory, and the unsettled actions, whose effects are unknown. It takes entries and
// unsettled actions of the state file, and fills a part of a StateInput.
package recall
