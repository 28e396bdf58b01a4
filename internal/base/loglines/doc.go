// Package loglines cuts what programs print into lines that are safe to show. Bytes go in,
// in pieces of any size; lines go out, each when it has ended. It owns where a line is cut
// that has no end.
package loglines
