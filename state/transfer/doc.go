// Package transfer moves entries from one state to another so that each is in at least one of
// the two at any moment, and that neither acts on an object while its entry is on the way. Two
// states that are both locked come in; each step goes out as a whole new content of one of them,
// which is durable before the next. A crash after any step leaves marks from which Finish
// continues, only forward; only Cancel goes back.
package transfer
