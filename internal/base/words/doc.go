// Package words puts numbers and names into sentences for people.
//
// It owns how counts, sizes, lists of names and suggestions for misspelt names are
// written. Values come in and text goes out, safe for a terminal; it does not know what
// the names stand for.
package words
