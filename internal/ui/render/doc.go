// Package render writes plans, states, reports and progress for people. Values come
// in, text goes out: what is equal is folded, what nobody would read is counted, and
// the size is bounded whatever comes in. The text is not safe for a terminal yet:
// internal/ui/terminal escapes it, hides secrets in it a last time, and turns its
// marks into colours.
package render
