// Package conformance tests whether an image keeps the protocol. It owns the checks:
// in comes an image with a config for one resource of its type, with which it does
// all that deployster ever does, also on bad days; out goes a report that says what
// was wrong and how to fix it.
package conformance
