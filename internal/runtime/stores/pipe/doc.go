// Package pipe provides a store of objects that another program serves on its standard
// streams. So the libraries of services are not in deployster itself, which starts
// often and mostly does not need them.
//
// It owns the messages between the two programs. On the client's side a command comes
// in and a sharedlog.Store goes out; on the server's side it is the other way round.
package pipe
