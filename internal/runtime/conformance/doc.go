// Package conformance tests whether an image keeps the protocol. It owns the checks. An
// image and the config of one resource of its type come in; the package does with them
// all that deployster ever does, also in cases of failure. A report goes out that reports
// what is wrong and how to fix it.
package conformance
