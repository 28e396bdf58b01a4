// Package typeclient speaks the protocol with the images of resource types. It owns
// what each version of the protocol says: init, state and actions go in, runs of
// images come of them, and typed answers go out, which are read without trust.
package typeclient
