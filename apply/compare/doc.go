// Package compare finds what differs between what a plan showed and what is found in its
// apply, and writes it side by side. Steps of a plan and answers come in; differences,
// with nothing in them that must not be shown, and a table of text go out.
package compare
