// Package words puts numbers and names into sentences for people.
//
// It owns how a count, a size, a list of names and a guess at a misspelt name are
// written. Values come in and text goes out, safe for a terminal; it knows nothing
// of what the names stand for.
package words
