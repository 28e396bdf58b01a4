// Package storetest holds a sharedlog.Store to what its callers rely on.
//
// Suite gets a function that opens a store, and reports to a test where the store fails.
package storetest
