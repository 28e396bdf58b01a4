// Package resource owns the ways of one thing: how it is read, planned, made, changed and
// removed by a provider. In come the messages of deployster; out go its answers, and
// what is to be remembered.
package resource
