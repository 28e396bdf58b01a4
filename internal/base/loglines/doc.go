// Package loglines cuts the output of programs into lines that are safe to show. Bytes go
// in, in pieces of any size; lines go out, each when it has ended. It owns where a line
// without an end is cut, and how the middle of a long log is left out.
package loglines
