// Package sharedlog is a lock, a journal and a history in one: a log of entries. Each
// entry is an object that is created only if none exists with its number.
//
// It owns the format of the log, and the five rules by which several machines share one
// log without trust in clocks. A Store comes in; a View goes out for readers, and a
// Claim for the one writer. The package knows neither what a state means nor which
// service the Store is.
package sharedlog
