// Package pipe brings a store of objects through the standard streams of a program:
// so the libraries of services are not in deployster itself, which starts often and
// mostly without them.
//
// It owns the messages between the two. A command comes in at one end and a
// sharedlog.Store goes out; at the other end it is the other way round.
package pipe
