// Package exclusive finds what the exclusive blocks of a manifest destroy: what a type lists on a
// machine, and what is neither declared nor kept. The decisions about all resources come in; for each
// set goes out what it destroys, what it keeps and why it destroys nothing.
package exclusive
