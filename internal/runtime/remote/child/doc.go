// Package child runs a program of this machine that is the way to a host, such as ssh: a
// command line comes in, a stream of its input and output goes out. The package owns the
// process: its environment without the secrets of this command, what it prints as errors,
// and its end.
package child
