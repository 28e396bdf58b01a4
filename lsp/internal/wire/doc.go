// Package wire holds the messages of the Language Server Protocol that this server takes and sends, with the
// members that it uses. JSON comes in; Go values come out, and the reverse.
package wire
