// Package sharedstate is what the command line says of where a state is and of who uses
// it. A status comes in, and lines for people go out.
package sharedstate
