// Package process gives the command line access to its process: the size of the terminal,
// the streams that were closed when it began, a standard output that may have been closed,
// and signals that a command takes over. It does not depend on any command.
package process
