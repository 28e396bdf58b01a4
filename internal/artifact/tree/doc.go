// Package tree reads trees of files that somebody else made: it gives the hash of one, and
// copies one. Directories come in; hashes and copies go out, or what is in the way. Links
// are read and never followed; devices, sockets and FIFOs are refused; how much there may
// be is bounded.
package tree
