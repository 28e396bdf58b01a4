// Package sharedstate is for states that several machines use: it reports who uses one,
// ends a claim, and moves a state to another place.
package sharedstate
