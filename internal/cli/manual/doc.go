// Package manual tells people what the command line takes. It owns the pages of
// help, the man pages, and the completion of shells; all three are made of one
// value, a Page for each command. What comes in: the commands as the flag library
// has them, and the examples of this package. What goes out: text, roff, and the
// words that may follow those of a command line.
package manual
