// Package sharedstate prints where a state is and who uses it. A status comes in, and
// lines for people go out.
package sharedstate
