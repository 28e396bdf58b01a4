// Package typeview shows people and programs what a resource type is, and the progress of
// a test of one.
//
// It owns the table of a schema, and the document that `type inspect -json` prints. The
// answer of an image's init comes in; text goes to a terminal.Printer.
package typeview
