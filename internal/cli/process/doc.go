// Package process gives the command line access to its process: the size of the terminal,
// a standard output that may have been closed, signals that a command takes over. It does
// not depend on any command.
package process
