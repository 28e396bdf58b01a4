// Package typeview shows people and programs what a resource type is, and how a
// test of one goes.
//
// It owns the table of a schema, and the document that `type inspect -json` prints.
// What an image has said of itself comes in; text goes to a terminal.Printer.
package typeview
