// Package program is what deployster-store does: it speaks with the services that keep
// shared states, for the deployster that lies beside it.
//
// A URL comes in, and the store that it names is served on the standard streams, until
// the client ends.
package program
