// Package text finds places in a text: lines and units of UTF-16, as editors count them, and bytes, as the
// language counts them. A text comes in; positions, offsets and ranges go out, always inside it.
package text
