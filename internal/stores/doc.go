// Package stores knows which store of objects a URL names.
//
// It owns the URLs of shared states: what may stand in one, and what must not. A URL
// comes in; a sharedlog.Store that has not connected yet goes out, or an error that
// says what is wrong with the URL.
package stores
