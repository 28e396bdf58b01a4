// Package text has the kinds whose objects are parts of text files: line and text_block.
// Each owns its few lines, and keeps every other byte of the file. Writing is package
// replace's.
package text
