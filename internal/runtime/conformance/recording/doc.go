// Package recording runs the images that a test of the protocol starts, and keeps what they
// were sent and what they answered: the inputs of a run come in, exchanges go out.
package recording
