// Package storetest holds a sharedlog.Store to what its callers rely on.
//
// A way to make a store comes in, and what it does wrong goes to a test.
package storetest
