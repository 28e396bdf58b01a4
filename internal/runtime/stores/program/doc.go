// Package program is the program deployster-store: it connects to the services that
// keep shared states, for the deployster in the same directory.
//
// A URL comes in. The package serves the store that the URL names on the standard
// streams, until the client ends.
package program
