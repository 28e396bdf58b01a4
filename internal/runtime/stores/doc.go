// Package stores opens the store of objects that a URL names.
//
// It owns the URLs of shared states: what they may contain, and what they must not. A
// URL comes in; a sharedlog.Store that has not connected yet goes out, or an error that
// reports why the URL is not valid.
package stores
