// Package text has the kinds whose objects are parts of text files: line, text_block, ini, json
// and hosts_entry. Each owns its few lines or its value, and keeps every other byte of the file.
// Writing is package replace's.
package text
