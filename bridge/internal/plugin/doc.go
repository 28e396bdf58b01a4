// Package plugin owns the process of a provider: its start, the handshake, the names of
// the calls in the protocols 5 and 6, and its end. In comes the path of a binary; out go
// the answers to calls.
package plugin
