// Package layout knows how a file is laid out: a body in HCL comes in, and its attributes and blocks go out, with their
// comments and their places. It marks these places in the text of a new file, so that a line there leads back to the old one.
package layout
