// Package sharedstate has the commands for where a state is and who uses it: it gets the
// engine of a command, and prints lines for people.
package sharedstate
