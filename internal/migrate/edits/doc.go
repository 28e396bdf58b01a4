// Package edits changes parts of a text: their places and new texts come in, in any order, and the
// changed text goes out. What is inside another change is left out.
package edits
