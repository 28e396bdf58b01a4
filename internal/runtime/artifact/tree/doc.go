// Package tree reads trees of files of unknown origin: it hashes a tree, and copies one.
// Directories come in; hashes and copies go out, or an error that names the file. Links
// are read and never followed; devices, sockets and FIFOs are refused; the number of files
// and the length of paths are limited.
package tree
