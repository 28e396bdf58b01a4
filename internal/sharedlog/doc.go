// Package sharedlog is a lock, a journal and a history in one: a log of entries,
// each of which is created where nothing is.
//
// It owns the format of the log, and the five rules by which several machines use
// one without trust in clocks. A Store comes in; a View for those who read goes out,
// and a Claim for the one who writes. It knows neither what a state means nor which
// service a store is.
package sharedlog
