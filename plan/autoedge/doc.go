// Package autoedge finds what resources come after because their types say so, and
// nobody has written it: what is declared comes in, with what its types say; edges go out.
package autoedge
