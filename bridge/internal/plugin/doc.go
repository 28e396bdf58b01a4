// Package plugin runs the process of a provider: its start, the handshake, the names of
// the calls in protocols 5 and 6, and its end. The path of a binary comes in; the answers
// to calls go out.
package plugin
