// Package manual documents the command line. It owns the pages of help, the man pages,
// and the completion of shells; all three are made of one value, a Page for each command.
// The commands of the flag library and the examples of this package come in; text, roff,
// and completions of a command line go out.
package manual
