// Package storetest tests whether a sharedlog.Store keeps the promises of its interface.
//
// Suite gets a function that opens a store, and reports to a test where the store fails.
package storetest
