// Package process is what the command line takes from the process around it: the size of
// the terminal, a standard output that may have been closed, signals that a command takes
// over. It knows no command.
package process
